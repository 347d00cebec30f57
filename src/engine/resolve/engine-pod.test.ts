import { describe, expect, test } from "vitest";
import { resolve } from "../../../test/engine/support/rendered-fixtures.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";

type Spec = NonNullable<PodTemplateFragment["spec"]>;

const pods = (ofClass: Spec, ofEngine: Spec) =>
  resolve({ engine: { template: { spec: ofEngine } }, engineClass: { template: { spec: ofClass } } }).pod;

describe("pod metadata", () => {
  test("labels and annotations: the engine's map lies over the class's", () => {
    const metadata = (both: string, own: string) => ({
      metadata: { labels: { both, [own]: own }, annotations: { both } },
    });
    const { labels, annotations } = resolve({
      engine: { template: metadata("engine", "e") },
      engineClass: { template: metadata("class", "c") },
    }).pod;
    expect(labels).toEqual({ both: "engine", c: "c", e: "e" });
    expect(annotations).toEqual({ both: "engine" });
  });
});

describe("pod fields", () => {
  test("nodeSelector: the engine's keys win", () => {
    expect(pods({ nodeSelector: { a: "c", b: "c" } }, { nodeSelector: { a: "e" } }).fields.nodeSelector).toEqual({
      a: "e",
      b: "c",
    });
  });

  test.each([
    "serviceAccountName",
    "priorityClassName",
    "runtimeClassName",
    "dnsPolicy",
    "schedulerName",
    "preemptionPolicy",
  ] as const)("%s: engine, else class, else unset", (field) => {
    expect(pods({ [field]: "c" }, { [field]: "e" }).fields[field]).toBe("e");
    expect(pods({ [field]: "c" }, {}).fields[field]).toBe("c");
    expect(pods({}, {}).fields).not.toHaveProperty(field);
  });

  test.each([
    { ofClass: undefined, ofEngine: undefined, want: undefined },
    { ofClass: undefined, ofEngine: false, want: false },
    { ofClass: false, ofEngine: undefined, want: false },
    // The pods follow their account, as they do by default.
    { ofClass: undefined, ofEngine: true, want: undefined },
    { ofClass: false, ofEngine: true, want: undefined },
    { ofClass: true, ofEngine: false, want: false },
  ])("automountServiceAccountToken: class $ofClass, engine $ofEngine: $want", ({ ofClass, ofEngine, want }) => {
    const says = (value: boolean | undefined) => (value === undefined ? {} : { automountServiceAccountToken: value });
    const { fields } = pods(says(ofClass), says(ofEngine));
    expect(fields.automountServiceAccountToken).toBe(want);
    expect("automountServiceAccountToken" in fields).toBe(want === false);
  });

  test.each([
    ["affinity", { podAffinity: {} }, { nodeAffinity: {} }],
    ["dnsConfig", { searches: ["c"] }, { nameservers: ["e"] }],
    ["os", { name: "windows" }, { name: "linux" }],
    ["overhead", { cpu: "1" }, { memory: "1" }],
  ] as const)("%s is taken whole, never merged", (field, ofClass, ofEngine) => {
    expect(pods({ [field]: ofClass }, { [field]: ofEngine }).fields[field]).toEqual(ofEngine);
    expect(pods({ [field]: ofClass }, {}).fields[field]).toEqual(ofClass);
  });

  test.each([
    ["tolerations", { key: "c" }, { key: "e" }],
    ["readinessGates", { conditionType: "c" }, { conditionType: "e" }],
    [
      "topologySpreadConstraints",
      { maxSkew: 1, topologyKey: "c", whenUnsatisfiable: "x" },
      { maxSkew: 1, topologyKey: "e", whenUnsatisfiable: "x" },
    ],
    ["resourceClaims", { name: "c" }, { name: "e" }],
    ["hostAliases", { ip: "1.1.1.1" }, { ip: "2.2.2.2" }],
    ["imagePullSecrets", { name: "c" }, { name: "e" }],
    ["initContainers", { name: "c" }, { name: "e" }],
  ] as const)("%s: concatenated, class first", (field, ofClass, ofEngine) => {
    expect(pods({ [field]: [ofClass] }, { [field]: [ofEngine] }).fields[field]).toEqual([ofClass, ofEngine]);
  });

  test.each([
    [
      "topologySpreadConstraints",
      { maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "x" },
      { maxSkew: 2, topologyKey: "z", whenUnsatisfiable: "x" },
    ],
    ["resourceClaims", { name: "a", resourceClaimName: "c" }, { name: "a", resourceClaimName: "e" }],
    ["hostAliases", { ip: "1.1.1.1", hostnames: ["c"] }, { ip: "1.1.1.1", hostnames: ["e"] }],
    ["initContainers", { name: "a", image: "c", command: ["c"] }, { name: "a", image: "e" }],
  ] as const)("%s with one key: the engine's whole entry wins, in the later position", (field, ofClass, ofEngine) => {
    const other = { name: "z", ip: "9.9.9.9", maxSkew: 1, topologyKey: "o", whenUnsatisfiable: "o" };
    expect(pods({ [field]: [ofClass, other] }, { [field]: [ofEngine] }).fields[field]).toEqual([other, ofEngine]);
  });

  test("two constraints of one topology key differ by what happens when they cannot be met", () => {
    const constraint = (whenUnsatisfiable: string) => [{ maxSkew: 1, topologyKey: "z", whenUnsatisfiable }];
    expect(
      pods({ topologySpreadConstraints: constraint("a") }, { topologySpreadConstraints: constraint("b") }).fields
        .topologySpreadConstraints,
    ).toHaveLength(2);
  });

  test("duplicate tolerations are harmless and kept", () => {
    expect(pods({ tolerations: [{ key: "a" }] }, { tolerations: [{ key: "a" }] }).fields.tolerations).toHaveLength(2);
  });

  test("what is ignored does not come through", () => {
    const ignored: Spec = {
      nodeName: "n",
      enableServiceLinks: true,
      serviceAccount: "s",
      setHostnameAsFQDN: true,
      priority: 1,
    };
    expect(pods({}, ignored).fields).toEqual({});
  });

  test("security context: whole, with the group of the engine filled in", () => {
    expect(pods({}, {}).securityContext).toEqual({ fsGroup: 3473, fsGroupChangePolicy: "OnRootMismatch" });
    expect(pods({ securityContext: { runAsUser: 1 } }, { securityContext: { fsGroup: 0 } }).securityContext).toEqual({
      fsGroup: 0,
      fsGroupChangePolicy: "OnRootMismatch",
    });
    expect(pods({ securityContext: { runAsUser: 1, fsGroupChangePolicy: "Always" } }, {}).securityContext).toEqual({
      runAsUser: 1,
      fsGroup: 3473,
      fsGroupChangePolicy: "Always",
    });
  });

  test("sidecars: class, then engine; one name once", () => {
    const { sidecars } = pods(
      { containers: [{ name: "engine" }, { name: "a", image: "c" }, { name: "b" }] },
      { containers: [{ name: "c" }, { name: "a", image: "e" }] },
    );
    expect(sidecars).toEqual([{ name: "b" }, { name: "c" }, { name: "a", image: "e" }]);
  });

  test("volumes with a name of the operator's are dropped, the others keep class before engine", () => {
    const named = (...names: string[]) => ({ volumes: names.map((name) => ({ name, emptyDir: {} })) });
    const { volumes } = pods(
      named("data", "runtime", "a", "b"),
      named("engine-config", "nginx-writable-dir", "c", "a"),
    );
    expect(volumes.map(({ name }) => name)).toEqual(["b", "c", "a"]);
  });
});
