// What the API server makes of a rendering is no change, and a change of the same object is one. The real server is
// asked in test/instance/drift.integration.test.ts.
import { describe, expect, test } from "vitest";
import { OPERATOR_DEFAULTS } from "../../api/operator-defaults.ts";
import { isObject } from "../../podtemplate/shapes/shape.ts";
import { trimConfigMap } from "../model/cache-trims.ts";
import type { Instance, LiveObject, Rendered } from "../model/children.ts";
import { type RenderSettings, renderInstanceObjects } from "../render/instance-objects.ts";
import { isAsRendered, outcomeOf, withRenderedHash } from "./as-rendered.ts";

const TEMPLATE = {
  spec: {
    nodeSelector: { pool: "edge" },
    tolerations: [{ key: "spot", operator: "Exists" }],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { a: "b" } },
      },
    ],
    containers: [
      { name: "sidecar", image: "i:1", ports: [{ containerPort: 1 }], envFrom: [{ secretRef: { name: "s" } }] },
    ],
  },
};

function objectsOf(wakeMode: RenderSettings["wakeMode"] & string): readonly Rendered[] {
  const instance: Instance = {
    metadata: { namespace: "ns", name: "lakeside", uid: "uid-1" },
    spec: {
      id: "01ABC",
      metadataNG: false,
      metadata: { engineRegistration: false },
      gateway: { metricsPort: 9090, template: TEMPLATE },
    },
  };
  const { postgres, metadata, gateway } = renderInstanceObjects(instance, {
    images: OPERATOR_DEFAULTS.images,
    metadataConfigFormat: "xml",
    wakeAgent: { image: "agent:1", pullPolicy: "" },
    wakeMode,
  });
  return [...postgres, ...metadata, ...gateway].map(withRenderedHash);
}

type Json = Record<string, unknown>;
/** What kube-apiserver 1.36 adds, by the end of the path. */
const ADDED: readonly (readonly [RegExp, Json])[] = [
  [
    /template\.spec$/,
    {
      dnsPolicy: "ClusterFirst",
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    },
  ],
  [
    /[cC]ontainers$/,
    {
      imagePullPolicy: "IfNotPresent",
      resources: {},
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
    },
  ],
  [/[cC]ontainers\.ports$/, { protocol: "TCP" }],
  [/[a-z]Probe$/, { failureThreshold: 3, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 1 }],
  [/fieldRef$/, { apiVersion: "v1" }],
  [/volumes\.(configMap|secret|projected)$/, { defaultMode: 420 }],
  [/volumeClaimTemplates$/, { apiVersion: "v1", kind: "PersistentVolumeClaim", status: { phase: "Pending" } }],
  [/volumeClaimTemplates\.spec$/, { volumeMode: "Filesystem" }],
];
const ADDED_TO_SPEC: Readonly<Record<string, Json>> = {
  Service: {
    clusterIP: "10.0.0.1",
    clusterIPs: ["10.0.0.1"],
    internalTrafficPolicy: "Cluster",
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
    sessionAffinity: "None",
    type: "ClusterIP",
  },
  Deployment: { progressDeadlineSeconds: 600, revisionHistoryLimit: 10 },
  StatefulSet: {
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
    podManagementPolicy: "OrderedReady",
    revisionHistoryLimit: 10,
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
  },
};

function withDefaults(value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((entry) => withDefaults(entry, path));
  if (!isObject(value)) return value;
  const own = Object.entries(value).map(([key, inner]) => [key, withDefaults(inner, `${path}.${key}`)] as const);
  const added = ADDED.filter(([end]) => end.test(path)).map(([, fields]) => fields);
  return Object.assign({}, ...added, Object.fromEntries(own));
}

/** As a cache holds it after the write. */
function stored(object: Rendered): LiveObject {
  if (object.kind === "ConfigMap") return trimConfigMap(object);
  const live = withDefaults(object, object.kind) as LiveObject;
  if (!("spec" in live)) return live;
  return { ...live, spec: { ...ADDED_TO_SPEC[object.kind], ...live.spec } } as LiveObject;
}

describe.each(["annotation", "demand"] as const)("wake mode %s", (wakeMode) => {
  test.each(objectsOf(wakeMode).map((object) => [object.kind, object.metadata.name, object] as const))(
    "%s %s with the defaults of the API server is as rendered",
    (_, __, object) => expect(isAsRendered(stored(object), object)).toBe(true),
  );
});

type Addition = "a field" | "an entry";
/** Where a field, or an entry, that others add would be removed by the write. */
const WHOLE: readonly (readonly [kind: string, path: string, how: Addition])[] = [
  ["Role", "rules.0", "a field"],
  ["Role", "rules", "an entry"],
  ["Role", "rules.0.verbs", "an entry"],
  ["RoleBinding", "subjects.0", "a field"],
  ["RoleBinding", "subjects", "an entry"],
  ["PodDisruptionBudget", "spec.selector", "a field"],
  ["PodDisruptionBudget", "spec.selector.matchLabels", "a field"],
  ["Service", "spec.selector", "a field"],
  ["Deployment", "spec.template.spec.nodeSelector", "a field"],
  ["Deployment", "spec.template.spec.tolerations.0", "a field"],
  ["Deployment", "spec.template.spec.topologySpreadConstraints.0.labelSelector", "a field"],
  ["Deployment", "spec.template.spec.containers.1.envFrom.0.secretRef", "a field"],
  ["Deployment", "spec.template.spec.volumes.0.configMap.items.0", "a field"],
  ["StatefulSet", "spec.template.spec.containers.0.env.0.valueFrom.secretKeyRef", "a field"],
];
/** Where the write would keep it. */
const MERGED: typeof WHOLE = [
  ["Service", "spec.ports", "an entry"],
  ["Service", "spec.ports.0", "a field"],
  ["Deployment", "spec.template.metadata.annotations", "a field"],
  ["Deployment", "spec.template.spec.containers", "an entry"],
  ["Deployment", "spec.template.spec.containers.0", "a field"],
  ["Deployment", "spec.template.spec.containers.0.ports", "an entry"],
  ["Deployment", "spec.template.spec.volumes", "an entry"],
  ["StatefulSet", "spec.volumeClaimTemplates.0.metadata", "a field"],
];

function edited(kind: string, path: string, how: Addition): boolean {
  const object = objectsOf("annotation").findLast((candidate) => candidate.kind === kind);
  if (object === undefined) throw new Error(`no ${kind}`);
  const live = structuredClone(stored(object));
  let part: unknown = live;
  for (const key of path.split(".")) part = Reflect.get(Object(part), key);
  if (how === "an entry" && Array.isArray(part)) part.unshift({ name: "theirs", port: 1, containerPort: 1 });
  else if (how === "a field" && isObject(part)) Object.assign(part, { theirs: "x" });
  else throw new Error(`no ${path} in a ${kind}`);
  return !isAsRendered(live, object);
}

test.each(WHOLE)("instance-objects-edited: %s %s: %s that others added is removed", (...edit) =>
  expect(edited(...edit)).toBe(true),
);
test.each(MERGED)("instance-objects-edited: %s %s: %s that others added is kept", (...edit) =>
  expect(edited(...edit)).toBe(false),
);

test("what the API server stored is remembered whatever others annotate, and not when a part of ours changes", () => {
  const [deployment] = objectsOf("annotation").filter(({ kind }) => kind === "Deployment");
  if (deployment === undefined) throw new Error("no Deployment is rendered");
  const rendered = withRenderedHash(deployment);
  const live = (labels: object, annotations: object): LiveObject =>
    ({
      ...rendered,
      metadata: {
        ...rendered.metadata,
        labels: { ...rendered.metadata.labels, ...labels },
        annotations: { ...rendered.metadata.annotations, ...annotations },
      },
    }) as LiveObject;
  const stored = outcomeOf(live({}, {}), rendered);
  expect(outcomeOf(live({ team: "a" }, { "deployment.kubernetes.io/revision": "2" }), rendered)).toBe(stored);
  const [label = ""] = Object.keys(rendered.metadata.labels ?? {});
  expect(outcomeOf(live({ [label]: "changed" }, {}), rendered)).not.toBe(stored);
});
