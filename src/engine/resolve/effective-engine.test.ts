import { describe, expect, test } from "vitest";
import { resolve, storedClass } from "../../../test/engine/support/rendered-fixtures.ts";
import { OPERATOR_DEFAULTS } from "../../api/operator-defaults.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import { hashClassTemplate, resolveEngine } from "./effective-engine.ts";

type Spec = NonNullable<PodTemplateFragment["spec"]>;

describe("storage", () => {
  const storages = (ofClass: object, ofEngine: object) =>
    resolve({ engine: { storage: ofEngine }, engineClass: { storage: ofClass } }).storage;

  test("whole: the engine's backend, else the class's, else an emptyDir", () => {
    expect(storages({ hostPath: { path: "/c" } }, { emptyDir: { medium: "Memory" } })).toEqual({
      type: "emptyDir",
      medium: "Memory",
      sizeLimit: undefined,
    });
    expect(storages({ hostPath: { path: "/c", type: "Directory" } }, {})).toEqual({
      type: "hostPath",
      path: "/c",
      pathType: "Directory",
    });
    expect(storages({}, {})).toEqual({ type: "emptyDir", medium: undefined, sizeLimit: undefined });
    expect(storages({ hostPath: { path: "/c" } }, { emptyDir: {} })).toMatchObject({ type: "emptyDir" });
  });

  test.each([
    [{}, { size: "1Gi", accessModes: ["ReadWriteOnce"], storageClassName: undefined }],
    [
      { size: "0", accessModes: [] },
      { size: "1Gi", accessModes: ["ReadWriteOnce"], storageClassName: undefined },
    ],
    [
      { size: "0Gi", storageClassName: "" },
      { size: "1Gi", accessModes: ["ReadWriteOnce"], storageClassName: "" },
    ],
    [
      { size: "5Gi", accessModes: ["ReadWriteMany"], storageClassName: "ssd" },
      { size: "5Gi", accessModes: ["ReadWriteMany"], storageClassName: "ssd" },
    ],
  ])("the claim %j", (persistentVolumeClaim, want) => {
    expect(storages({}, { persistentVolumeClaim })).toEqual({ type: "persistentVolumeClaim", ...want });
  });
});

describe("settings", () => {
  test("engine, else class, else graceful, true, 5s", () => {
    expect(resolve({}).settings).toEqual({ rollout: "graceful", drainCheckEnabled: true, drainCheckIntervalMs: 5_000 });
    expect(
      resolve({
        engine: { drainCheckEnabled: false },
        engineClass: { rollout: "recreate", drainCheckEnabled: true, drainCheckInterval: "1m" },
      }).settings,
    ).toEqual({ rollout: "recreate", drainCheckEnabled: false, drainCheckIntervalMs: 60_000 });
  });

  test.each(["0", "-5s", "0s", "nonsense"])(
    "intervals-have-a-floor: an interval of %s counts as 5s",
    (drainCheckInterval) => {
      expect(resolve({ engine: { drainCheckInterval } }).settings.drainCheckIntervalMs).toBe(5_000);
    },
  );
});

describe("hashes and overrides", () => {
  test("the class hash is there exactly when there is a class", () => {
    expect(resolve({}).classHash).toBeUndefined();
    expect(resolve({ engineClass: {} }).classHash).toMatch(/^[0-9a-f]{16}$/);
  });

  test("any edit of the class template changes it, even of a field that is never rendered", () => {
    const hash = (spec: Spec) => hashClassTemplate({ spec });
    expect(hash({ nodeName: "n" })).not.toBe(hash({}));
    expect(hash({ containers: [{ name: "engine", image: "a" }] })).not.toBe(
      hash({ containers: [{ name: "engine", image: "b" }] }),
    );
    expect(hashClassTemplate({ metadata: { labels: { a: "b" } } })).not.toBe(hashClassTemplate({}));
  });

  test("the same template in other words has the same hash", () => {
    const quantity = (memory: string): Spec => ({
      containers: [{ name: "engine", resources: { limits: { memory } } }],
    });
    expect(hashClassTemplate({ spec: quantity("1Gi") })).toBe(hashClassTemplate({ spec: quantity("1024Mi") }));
    expect(hashClassTemplate({ spec: { tolerations: [], nodeSelector: {} } })).toBe(hashClassTemplate({}));
  });

  test("nothing else of the class is in its hash", () => {
    expect(resolve({ engineClass: { rollout: "recreate", storage: { emptyDir: {} } } }).classHash).toBe(
      resolve({ engineClass: {} }).classHash,
    );
  });

  test("an empty override counts as none", () => {
    expect(resolve({ engine: { metadataEndpointOverride: "" } }).metadataEndpointOverride).toBeUndefined();
    expect(resolve({ engine: { metadataEndpointOverride: "h:1" } }).metadataEndpointOverride).toBe("h:1");
  });

  test("engine-without-spec: an engine without a spec resolves to nothing that runs", () => {
    const effective = resolveEngine({ engine: {}, engineClass: undefined, defaults: OPERATOR_DEFAULTS });
    expect(effective.replicas).toBe(0);
  });

  test("objects out of a cache are frozen and stay as they are", () => {
    const frozen = deepFreeze(
      storedClass({ template: { spec: { volumes: [{ name: "v" }], securityContext: { runAsUser: 1 } } } }),
    );
    expect(() => resolveEngine({ engine: {}, engineClass: frozen, defaults: OPERATOR_DEFAULTS })).not.toThrow();
  });
});

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const inner of Object.values(Object.freeze(value))) deepFreeze(inner);
  return value;
}
