import { describe, expect, test } from "vitest";
import type { TemplateComponent } from "./template-rules.ts";
import { validateTemplate } from "./validate-template.ts";
import { violationText } from "./violation.ts";

const texts = (component: TemplateComponent, template: unknown): string[] =>
  validateTemplate(component, template, "spec.template").map(violationText);
const engine = (template: unknown) => texts("engine", template);
const inPod = (spec: object) => engine({ spec });
const onEngine = (fields: object) => inPod({ containers: [{ name: "engine", ...fields }] });

describe("metadata", () => {
  test.each([
    ["name", "p"],
    ["generateName", "p-"],
    ["namespace", "n"],
    ["uid", "u"],
    ["resourceVersion", "1"],
    ["generation", 1],
    ["creationTimestamp", "2026-01-01T00:00:00Z"],
    ["deletionTimestamp", "2026-01-01T00:00:00Z"],
    ["deletionGracePeriodSeconds", 0],
    ["ownerReferences", [{}]],
    ["finalizers", ["a/b"]],
    ["managedFields", [{}]],
  ])("%s has no effect and is forbidden", (name, value) => {
    expect(engine({ metadata: { [name]: value } })).toEqual([
      `spec.template.metadata.${name}: Forbidden: ${name} has no effect on a pod template; remove it`,
    ]);
  });

  test("null timestamps and empty lists are fine", () => {
    expect(engine({ metadata: { creationTimestamp: null, finalizers: [], name: "" } })).toEqual([]);
  });

  test("the operator's key prefix is forbidden per key, in alphabetical order", () => {
    expect(
      engine({
        metadata: {
          labels: { "firebolt.io/team": "a", "x.firebolt.io/foo": "ok", "firebolt.io/area": "b" },
          annotations: { "firebolt.io/config-hash": "x" },
        },
      }),
    ).toEqual([
      "spec.template.metadata.labels[firebolt.io/area]: Forbidden: keys with the prefix firebolt.io/ are reserved for the operator",
      "spec.template.metadata.labels[firebolt.io/team]: Forbidden: keys with the prefix firebolt.io/ are reserved for the operator",
      "spec.template.metadata.annotations[firebolt.io/config-hash]: Forbidden: keys with the prefix firebolt.io/ are reserved for the operator",
    ]);
  });

  test("values must be strings", () => {
    expect(engine({ metadata: { labels: { tier: 1 } } })).toEqual([
      "spec.template.metadata.labels[tier]: Invalid value: 1: must be a string",
    ]);
    expect(engine({ metadata: { annotations: ["a"] } })).toEqual([
      'spec.template.metadata.annotations: Invalid value: ["a"]: must be a map of strings',
    ]);
  });
});

describe("pod spec", () => {
  test.each([
    ["terminationGracePeriodSeconds", 0, "operator-owned"],
    ["subdomain", "s", "operator-owned"],
    ["hostname", "h", "operator-owned"],
    ["restartPolicy", "Always", "fixed by the workload controller"],
    ["activeDeadlineSeconds", 5, "fixed by the workload controller"],
    ["hostNetwork", true, "not allowed"],
    ["hostPID", true, "not allowed"],
    ["hostIPC", true, "not allowed"],
    ["shareProcessNamespace", false, "cannot be set to any value"],
    ["hostUsers", true, "cannot be set to any value"],
  ])("%s is forbidden", (name, value, says) => {
    const [text, ...rest] = inPod({ [name]: value });
    expect(rest).toEqual([]);
    expect(text).toContain(`spec.template.spec.${name}: Forbidden: ${name} is`.slice(0, -3));
    expect(text).toContain(says);
  });

  test("empty values count as unset, and ignored fields are not forbidden", () => {
    expect(inPod({ hostNetwork: false, hostname: "", nodeName: "n1", enableServiceLinks: true })).toEqual([]);
    expect(inPod({ volumes: [{ name: "data", emptyDir: {} }] })).toEqual([]);
  });
});

describe("the primary container", () => {
  test.each([
    ["command", ["x"]],
    ["args", ["x"]],
    ["ports", [{ containerPort: 1 }]],
    ["readinessProbe", {}],
    ["livenessProbe", {}],
    ["startupProbe", {}],
    ["restartPolicy", "Always"],
    ["stdin", true],
    ["stdinOnce", true],
    ["tty", true],
  ])("%s is forbidden on every component", (name, value) => {
    for (const [component, primary] of [
      ["engine", "engine"],
      ["gateway", "envoy"],
      ["metadata", "metadata"],
    ] as const) {
      const found = texts(component, { spec: { containers: [{ name: primary, [name]: value }] } });
      expect(found).toHaveLength(1);
      expect(found[0]).toContain(
        `spec.template.spec.containers[0].${name}: Forbidden: ${name} of the ${primary} container`,
      );
    }
    expect(inPod({ containers: [{ name: "sidecar", [name]: value }] })).toEqual([]);
  });

  test.each([
    ["env", [{ name: "A" }]],
    ["envFrom", [{}]],
    ["volumeMounts", [{ name: "v", mountPath: "/v" }]],
    ["securityContext", {}],
    ["lifecycle", {}],
    ["workingDir", "/"],
    ["terminationMessagePath", "/x"],
    ["terminationMessagePolicy", "File"],
    ["volumeDevices", [{}]],
    ["resizePolicy", [{}]],
  ])("%s is forbidden on gateway and metadata only", (name, value) => {
    expect(texts("gateway", { spec: { containers: [{ name: "envoy", [name]: value }] } })).toHaveLength(1);
    expect(texts("metadata", { spec: { containers: [{ name: "metadata", [name]: value }] } })).toHaveLength(1);
    expect(onEngine({ [name]: value })).toEqual([]);
  });

  test("the operator's variables are forbidden, by index", () => {
    expect(
      onEngine({ env: [{ name: "A" }, { name: "POD_INDEX" }, { name: "FB_AWS_EC2_METADATA_CLIENT_ENABLED" }] }),
    ).toEqual([
      "spec.template.spec.containers[0].env[1].name: Forbidden: POD_INDEX is injected by the operator; choose another name",
      "spec.template.spec.containers[0].env[2].name: Forbidden: FB_AWS_EC2_METADATA_CLIENT_ENABLED is injected by the operator; choose another name",
    ]);
    expect(inPod({ containers: [{ name: "sidecar", env: [{ name: "POD_INDEX" }] }] })).toEqual([]);
  });

  test.each(["engine-config", "data", "runtime", "auth-admin", "tls-engine", "auth-signing-x"])(
    "a mount of %s is forbidden",
    (name) => {
      expect(
        onEngine({
          volumeMounts: [
            { name: "mine", mountPath: "/m" },
            { name, mountPath: "/x" },
          ],
        }),
      ).toEqual([
        `spec.template.spec.containers[0].volumeMounts[1].name: Forbidden: volume name "${name}" is reserved for the operator`,
      ]);
    },
  );

  test.each(["/var/lib/firebolt", "/var/lib/firebolt/", "/var/lib/firebolt/config.yaml", "/run/firebolt"])(
    "a mount over the operator's own at %s is forbidden: the API server would refuse the pod",
    (mountPath) => {
      expect(onEngine({ volumeMounts: [{ name: "mine", mountPath }] })).toEqual([
        `spec.template.spec.containers[0].volumeMounts[0].mountPath: Forbidden: the operator mounts a volume at ${mountPath} itself`,
      ]);
    },
  );
});

describe("other containers", () => {
  test("an init container may not take the primary's name", () => {
    expect(inPod({ initContainers: [{ name: "engine" }] })).toEqual([
      "spec.template.spec.initContainers[0].name: Forbidden: collides with the engine container; choose another name",
    ]);
    expect(texts("metadata", { spec: { initContainers: [{ name: "metadata" }] } })).toHaveLength(1);
  });

  test("a second primary is a duplicate, should the schema allow it", () => {
    expect(inPod({ containers: [{ name: "engine" }, { name: "engine" }] })).toEqual([
      'spec.template.spec.containers[1].name: Duplicate value: "engine"',
    ]);
  });

  test("reserved names are forbidden", () => {
    expect(inPod({ containers: [{ name: "engine-web" }], initContainers: [{ name: "engine-web" }] })).toHaveLength(2);
    expect(texts("gateway", { spec: { containers: [{ name: "wake-agent" }] } })).toHaveLength(1);
    expect(texts("metadata", { spec: { containers: [{ name: "wake-agent" }] } })).toEqual([]);
  });

  test.each(["auth-admin", "tls-engine", "auth-signing-k1"])("%s is Secret-backed", (name) => {
    const mounts = { volumeMounts: [{ name, mountPath: "/x" }] };
    expect(inPod({ containers: [{ name: "a", ...mounts }], initContainers: [{ name: "b", ...mounts }] })).toEqual([
      `spec.template.spec.containers[0].volumeMounts[0].name: Forbidden: volume "${name}" is Secret-backed and not mountable by extra containers`,
      `spec.template.spec.initContainers[0].volumeMounts[0].name: Forbidden: volume "${name}" is Secret-backed and not mountable by extra containers`,
    ]);
  });

  test("extra containers may mount volumes without Secrets", () => {
    const volumeMounts = ["data", "runtime", "engine-config"].map((name) => ({ name, mountPath: `/${name}` }));
    expect(inPod({ containers: [{ name: "a", volumeMounts }], initContainers: [{ name: "b", volumeMounts }] })).toEqual(
      [],
    );
    expect(
      texts("gateway", { spec: { containers: [{ name: "a", volumeMounts: [{ name: "tls-gateway" }] }] } }),
    ).toHaveLength(1);
    expect(
      texts("metadata", { spec: { containers: [{ name: "a", volumeMounts: [{ name: "postgres-creds" }] }] } }),
    ).toHaveLength(1);
  });
});

test("every violation is listed, in the order of the manifest", () => {
  expect(
    engine({
      metadata: { name: "p", labels: { "firebolt.io/x": "y" } },
      spec: { hostname: "h", containers: [{ name: "engine", tty: true }], initContainers: [{ name: "engine" }] },
    }).map((text) => text.split(":")[0]),
  ).toEqual([
    "spec.template.metadata.name",
    "spec.template.metadata.labels[firebolt.io/x]",
    "spec.template.spec.hostname",
    "spec.template.spec.containers[0].tty",
    "spec.template.spec.initContainers[0].name",
  ]);
});

test.each([undefined, null, {}, { spec: {} }, { metadata: null, spec: null }, "text"])(
  "nothing in %j is forbidden",
  (template) => {
    expect(engine(template)).toEqual([]);
  },
);
