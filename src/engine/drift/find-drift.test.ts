import { describe, expect, test } from "vitest";
import { type Layers, render } from "../../../test/engine/support/rendered-fixtures.ts";
import type { V1StatefulSet } from "../../api/generated/kubernetes.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import { findDrift } from "./find-drift.ts";

const set = (layers: Layers = {}) => render(layers).statefulSet;
const engine = (fields: Layers["engine"] & object): Layers => ({ engine: fields });
const pod = (spec: PodTemplateFragment["spec"]) => engine({ template: { ...(spec && { spec }) } });
const container = (fields: object) => pod({ containers: [{ name: "engine", ...fields }] });

/** The first difference when the cluster has one and the spec asks for the other. */
const drift = (live: Layers, wanted: Layers) => findDrift(set(live), set(wanted));
const pathOf = (live: Layers, wanted: Layers) => drift(live, wanted)?.path;

describe("every compared field", () => {
  const ENGINE = "spec.template.spec.containers[0]";
  const POD = "spec.template.spec";
  test.each<[string, Layers]>([
    ["spec.replicas", engine({ replicas: 2 })],
    [`${ENGINE}.image`, container({ image: "other:v1", imagePullPolicy: "IfNotPresent" })],
    [`${ENGINE}.imagePullPolicy`, container({ imagePullPolicy: "Always" })],
    [`${ENGINE}.resources`, container({ resources: { limits: { cpu: "1" } } })],
    [`${ENGINE}.resources`, container({ resources: { claims: [{ name: "c" }] } })],
    [`${POD}.nodeSelector`, pod({ nodeSelector: { a: "b" } })],
    [`${POD}.tolerations`, pod({ tolerations: [{ key: "a" }] })],
    [`${POD}.affinity`, pod({ affinity: {} })],
    [
      `${POD}.topologySpreadConstraints`,
      pod({ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "a", whenUnsatisfiable: "b" }] }),
    ],
    [`${POD}.dnsConfig`, pod({ dnsConfig: { searches: ["a"] } })],
    [`${POD}.readinessGates`, pod({ readinessGates: [{ conditionType: "a" }] })],
    [`${POD}.resourceClaims`, pod({ resourceClaims: [{ name: "a" }] })],
    [`${POD}.hostAliases`, pod({ hostAliases: [{ ip: "1.1.1.1" }] })],
    [`${POD}.os`, pod({ os: { name: "linux" } })],
    [`${POD}.overhead`, pod({ overhead: { cpu: "1" } })],
    [`${POD}.priorityClassName`, pod({ priorityClassName: "a" })],
    [`${POD}.serviceAccountName`, pod({ serviceAccountName: "a" })],
    [`${POD}.automountServiceAccountToken`, pod({ automountServiceAccountToken: false })],
    [`${POD}.runtimeClassName`, pod({ runtimeClassName: "a" })],
    [`${POD}.preemptionPolicy`, pod({ preemptionPolicy: "Never" })],
    [`${POD}.dnsPolicy`, pod({ dnsPolicy: "Default" })],
    [`${POD}.schedulerName`, pod({ schedulerName: "mine" })],
    [`${POD}.securityContext.fsGroup`, pod({ securityContext: { fsGroup: 1 } })],
    [`${ENGINE}.securityContext`, container({ securityContext: { runAsUser: 0 } })],
    [`${ENGINE}.env[2]`, container({ env: [{ name: "A" }] })],
    [`${ENGINE}.envFrom`, container({ envFrom: [{ prefix: "A" }] })],
    [`${ENGINE}.volumeMounts[3]`, container({ volumeMounts: [{ name: "a", mountPath: "/a" }] })],
    [`${ENGINE}.lifecycle`, container({ lifecycle: { postStart: { sleep: { seconds: 1 } } } })],
    [`${ENGINE}.volumeDevices`, container({ volumeDevices: [{ name: "a", devicePath: "/a" }] })],
    [`${ENGINE}.resizePolicy`, container({ resizePolicy: [{ resourceName: "cpu", restartPolicy: "a" }] })],
    [`${ENGINE}.workingDir`, container({ workingDir: "/a" })],
    [`${ENGINE}.terminationMessagePath`, container({ terminationMessagePath: "/a" })],
    [`${ENGINE}.terminationMessagePolicy`, container({ terminationMessagePolicy: "FallbackToLogsOnError" })],
    [`${POD}.containers[1]`, pod({ containers: [{ name: "sidecar", image: "a" }] })],
    [`${POD}.initContainers`, pod({ initContainers: [{ name: "first", image: "a" }] })],
    ["spec.template.metadata.labels[a]", engine({ template: { metadata: { labels: { a: "b" } } } })],
    ["spec.template.metadata.annotations", engine({ template: { metadata: { annotations: { a: "b" } } } })],
    [
      "spec.volumeClaimTemplates[data]",
      engine({ storage: { persistentVolumeClaim: { size: "1", accessModes: ["ReadWriteOnce"] } } }),
    ],
    [`${POD}.volumes[data].emptyDir.medium`, engine({ storage: { emptyDir: { medium: "Memory" } } })],
    [`${POD}.volumes[data].emptyDir.sizeLimit`, engine({ storage: { emptyDir: { sizeLimit: "1Gi" } } })],
    [`${POD}.volumes[data]`, engine({ storage: { hostPath: { path: "/a" } } })],
    [`${POD}.imagePullSecrets`, pod({ imagePullSecrets: [{ name: "a" }] })],
    [`${POD}.volumes[mine]`, pod({ volumes: [{ name: "mine" }] })],
    ["metadata.annotations[firebolt.io/metadata-override]", engine({ metadataEndpointOverride: "a:1" })],
    ["metadata.annotations[firebolt.io/custom-engine-config-hash]", engine({ customEngineConfig: { a: 1 } })],
    ["metadata.annotations[firebolt.io/engine-class-hash]", { engineClass: {} }],
  ])("%s, both when it comes and when it goes", (path, layers) => {
    expect(pathOf({}, layers)?.startsWith(path)).toBe(true);
    expect(pathOf(layers, {})?.startsWith(path)).toBe(true);
    expect(drift(layers, layers)).toBeUndefined();
  });

  test("a claim is compared by size, access modes and class", () => {
    const claim = (fields: object) =>
      engine({ storage: { persistentVolumeClaim: { size: "1Gi", accessModes: ["ReadWriteOnce"], ...fields } } });
    const at = "spec.volumeClaimTemplates[data]";
    expect(drift(claim({}), claim({ size: "1024Mi" }))).toBeUndefined();
    expect(drift(claim({}), claim({ size: "2Gi" }))).toEqual({
      path: `${at}.requests.storage`,
      live: "1Gi",
      wanted: "2Gi",
    });
    expect(pathOf(claim({}), claim({ accessModes: ["ReadWriteMany"] }))).toBe(`${at}.accessModes[0]`);
    expect(drift(claim({}), claim({ storageClassName: "" }))).toEqual({
      path: `${at}.storageClassName`,
      live: "unset",
      wanted: "",
    });
  });

  test("the grace period must be 60", () => {
    expect(
      findDrift(
        edited((spec) => ({ ...spec, terminationGracePeriodSeconds: 30 })),
        set(),
      )?.path,
    ).toBe("spec.template.spec.terminationGracePeriodSeconds");
  });
});

type PodSpec = NonNullable<NonNullable<V1StatefulSet["spec"]>["template"]["spec"]>;

/** A live set whose pod spec somebody has edited. */
function edited(change: (spec: PodSpec) => PodSpec, live = set()): V1StatefulSet {
  const { spec } = live;
  if (spec?.template.spec === undefined) throw new TypeError("rendered sets have a pod spec");
  return { ...live, spec: { ...spec, template: { ...spec.template, spec: change(spec.template.spec) } } };
}

describe("the same in other words is no drift", () => {
  test.each<[string, Layers, Layers]>([
    [
      "quantities",
      container({ resources: { limits: { memory: "1Gi", cpu: "1000m" } } }),
      container({ resources: { limits: { memory: "1024Mi", cpu: 1 } } }),
    ],
    [
      "a fieldRef without version",
      container({ env: [{ name: "A", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "a" } } }] }),
      container({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "a" } } }] }),
    ],
    [
      "a host path without type",
      engine({ storage: { hostPath: { path: "/a", type: "" } } }),
      engine({ storage: { hostPath: { path: "/a" } } }),
    ],
    ["empty lists and maps", pod({ tolerations: [], nodeSelector: {} }), {}],
    ["a token that nobody refuses", pod({ automountServiceAccountToken: true }), {}],
    ["default policies", pod({ schedulerName: "default-scheduler", dnsPolicy: "ClusterFirst" }), {}],
    [
      "default termination messages",
      container({ terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "File" }),
      {},
    ],
    [
      "the order of volumes",
      pod({ volumes: [{ name: "a" }, { name: "b" }] }),
      pod({ volumes: [{ name: "b" }, { name: "a", emptyDir: {} }] }),
    ],
    ["live settings", engine({ rollout: "recreate", drainCheckEnabled: false, drainCheckInterval: "1m" }), {}],
    ["a switch to a class of the same content", { engineClass: { template: {} } }, { engineClass: {} }],
  ])("%s", (_, live, wanted) => {
    expect(drift(live, wanted)).toBeUndefined();
    expect(drift(wanted, live)).toBeUndefined();
  });

  test("an unset DNS policy accepts what means the same, a set one does not", () => {
    const live = edited((spec) => ({ ...spec, dnsPolicy: "ClusterFirstWithHostNet" }));
    expect(findDrift(live, set())).toBeUndefined();
    expect(findDrift(live, set(pod({ dnsPolicy: "ClusterFirst" })))?.path).toBe("spec.template.spec.dnsPolicy");
  });
});

test("an operator upgrade that changes what is not compared causes no rollout", () => {
  const live = edited((spec) => ({
    ...spec,
    enableServiceLinks: true,
    containers: spec.containers.map((entry) => ({
      ...entry,
      command: ["x"],
      args: [],
      ports: [],
      readinessProbe: {},
      livenessProbe: {},
      startupProbe: {},
    })),
    volumes: (spec.volumes ?? []).filter(({ name }) => name === "data"),
  }));
  expect(findDrift(live, set())).toBeUndefined();
  const around = { serviceName: "x", podManagementPolicy: "OrderedReady", persistentVolumeClaimRetentionPolicy: {} };
  const { template = {}, ...rest } = live.spec ?? {};
  expect(findDrift({ ...live, spec: { selector: {}, ...rest, template, ...around } }, set())).toBeUndefined();
});

describe("labels of the set itself", () => {
  test.each([
    {},
    { "firebolt.io/engine": "e" },
    { "firebolt.io/engine": "e", "firebolt.io/generation": "x" },
    { "firebolt.io/engine": "f", "firebolt.io/generation": "0" },
  ])("%j counts as different", (labels) => {
    const live = set();
    expect(findDrift({ ...live, metadata: { ...live.metadata, labels } }, set())?.path).toMatch(
      /^metadata\.labels\[firebolt\.io/,
    );
  });
});

describe("incomplete live sets count as different and never throw", () => {
  test("no replicas", () => {
    const { replicas: _, ...spec } = set().spec ?? { selector: {}, template: {} };
    expect(findDrift({ ...set(), spec }, set())).toEqual({ path: "spec.replicas", live: "unset", wanted: "1" });
  });

  test("no containers, no pod, no spec", () => {
    expect(
      findDrift(
        edited((spec) => ({ ...spec, containers: [] })),
        set(),
      )?.path,
    ).toBe("spec.template.spec.containers[0].name");
    const { spec: _, ...bare } = set();
    expect(findDrift(bare, set())?.path).toBe("spec.replicas");
    expect(findDrift({ ...bare, spec: { replicas: 1, selector: {}, template: {} } }, set())).toBeDefined();
  });
});

describe("what is reported about a difference", () => {
  test("fields come before hashes, in a fixed order", () => {
    const ofClass = (image: string) => ({
      engineClass: { template: { spec: { containers: [{ name: "engine", image }] } } },
    });
    expect(drift(ofClass("a:v1"), ofClass("a:v2"))).toEqual({
      path: "spec.template.spec.containers[0].image",
      live: "a:v1",
      wanted: "a:v2",
    });
    expect(pathOf({}, engine({ replicas: 2, customEngineConfig: { a: 1 } }))).toBe("spec.replicas");
  });

  test("values of variables are hidden, long ones are cut", () => {
    const variable = (value: string) => container({ env: [{ name: "PASSWORD", value }] });
    expect(drift(variable("old"), variable("new"))).toEqual({
      path: "spec.template.spec.containers[0].env[2].value",
      live: "(hidden)",
      wanted: "(hidden)",
    });
    expect(drift({}, variable("new"))?.wanted).toBe("{name: PASSWORD, …}");
    expect(drift({}, container({ image: "x".repeat(500) }))?.wanted).toHaveLength(80);
  });
});

describe("the fingerprint of the rendering", () => {
  test("a field that was compared later leaves the fingerprints of sets without it as older versions wrote them", () => {
    const fingerprint = (layers: Layers) => set(layers).metadata?.annotations?.["firebolt.io/rendered-hash"];
    expect(fingerprint({})).toBe("b5eeafe76e3a6513");
    expect(fingerprint(pod({ automountServiceAccountToken: true }))).toBe("b5eeafe76e3a6513");
    expect(fingerprint(pod({ automountServiceAccountToken: false }))).not.toBe("b5eeafe76e3a6513");
  });

  /** As the server responds to a create: it has dropped an unknown field. */
  const stripped = (generation: number) => {
    const live = edited(({ tolerations: _, ...spec }) => spec, set(pod({ tolerations: [{ key: "a" }] })));
    return { ...live, metadata: { ...live.metadata, generation } };
  };
  const wanted = set(pod({ tolerations: [{ key: "a" }] }));

  test("an untouched set of the same rendering is no drift, whatever the server made of it", () => {
    expect(findDrift(stripped(1), wanted)).toBeUndefined();
  });

  test("an edited one, one of another rendering and one without fingerprint are compared", () => {
    const { metadata, ...rest } = stripped(1);
    expect(findDrift(stripped(2), wanted)?.path).toBe("spec.template.spec.tolerations");
    expect(findDrift(stripped(1), set(engine({ replicas: 2 })))?.path).toBe("spec.replicas");
    expect(findDrift({ ...rest, metadata: { ...metadata, annotations: {} } }, wanted)?.path).toBe(
      "spec.template.spec.tolerations",
    );
  });

  test("annotations are compared all the same, because editing them counts as no edit of the spec", () => {
    const live = set({ engineClass: {} });
    const { metadata } = live;
    const annotations = { ...metadata?.annotations, "firebolt.io/engine-class-hash": "edited" };
    expect(
      findDrift({ ...live, metadata: { ...metadata, annotations, generation: 1 } }, set({ engineClass: {} }))?.path,
    ).toBe("metadata.annotations[firebolt.io/engine-class-hash]");
  });
});
