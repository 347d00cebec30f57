import { describe, expect, test } from "vitest";
import { absentSet, engine, engineClass, instanceReady, snapshot } from "../../../test/engine/support/fixtures.ts";
import { storedClass, storedEngine } from "../../../test/engine/support/rendered-fixtures.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import { computeEngine } from "../compute/compute-engine.ts";
import { findSecretAliases, withoutVolumes } from "./secret-alias.ts";

const OURS = "main-metadata-postgres-creds";
const peek = (name: string, secretName = OURS) => ({ name, secret: { secretName } });
const aliases = (own: PodTemplateFragment["spec"], inherited: PodTemplateFragment["spec"] = {}) =>
  findSecretAliases(
    {
      engine: storedEngine({ template: { spec: own ?? {} } }),
      engineClass: storedClass({ template: { spec: inherited ?? {} } }),
    },
    (name) => name === OURS,
  );

describe("volumes that reach a protected Secret", () => {
  test("of the engine and of its class, each by its own path", () => {
    expect(aliases({ volumes: [peek("fine", "mine"), peek("a")] }, { volumes: [peek("b")] })).toEqual([
      { path: "spec.template.spec.volumes[1]", volume: "a", secret: OURS },
      { path: "spec.engineClassRef.template.spec.volumes[0]", volume: "b", secret: OURS },
    ]);
  });

  test("what never reaches the pods is no alias: overridden by the engine, or named like a volume of the operator", () => {
    expect(aliases({ volumes: [peek("a", "mine")] }, { volumes: [peek("a")] })).toEqual([]);
    expect(aliases({ volumes: [peek("data")] }, { volumes: [peek("runtime")] })).toEqual([]);
  });
});

test("a template without volumes has nothing that mounts them", () => {
  const mounts = [
    { name: "a", mountPath: "/a" },
    { name: "b", mountPath: "/b" },
  ];
  const template: PodTemplateFragment = {
    metadata: { labels: { l: "1" } },
    spec: {
      volumes: [peek("a"), { name: "b", emptyDir: {} }],
      containers: [{ name: "c", volumeMounts: mounts, volumeDevices: [{ name: "a", devicePath: "/dev/a" }] }],
      initContainers: [{ name: "i", volumeMounts: mounts }],
    },
  };
  const before = structuredClone(template);
  expect(withoutVolumes(template, new Set(["a"]))).toEqual({
    metadata: { labels: { l: "1" } },
    spec: {
      volumes: [{ name: "b", emptyDir: {} }],
      containers: [{ name: "c", volumeMounts: [mounts[1]], volumeDevices: [] }],
      initContainers: [{ name: "i", volumeMounts: [mounts[1]] }],
    },
  });
  expect(template).toEqual(before);
  expect(withoutVolumes(template, new Set())).toBe(template);
});

describe("in the engine's own passes", () => {
  const mounting = (name: string) => ({
    spec: {
      volumes: [peek(name)],
      containers: [{ name: "engine", volumeMounts: [{ name, mountPath: `/${name}` }] }],
    },
  });
  const object = engineClass({ spec: { template: mounting("b"), storage: {} } });
  const at = (phase: string) =>
    engine({
      spec: { engineClassRef: "c", template: mounting("a") },
      status: {
        phase,
        currentGeneration: 0,
        activeGeneration: phase === "stable" ? 0 : -1,
        conditions: [instanceReady],
      },
    });
  const found = { engineClass: { type: "found", object } } as const;

  test("bumps-are-finite: the rollout continues without them, and what it builds matches: no further generation", () => {
    const built = computeEngine(snapshot(at("creating"), { ...found, current: absentSet(0) }));
    if (built.type !== "hold" || built.ensure.statefulSet === undefined)
      throw new Error(`a ${built.type} without a set`);
    const { statefulSet } = built.ensure;
    expect(JSON.stringify(statefulSet)).not.toContain(OURS);
    expect(statefulSet.spec?.template.spec?.containers[0]?.volumeMounts?.map(({ name }) => name)).toEqual([
      "data",
      "engine-config",
      "runtime",
    ]);
    expect(built.leftOut?.map(({ volume }) => volume)).toEqual(["a", "b"]);
    const live = {
      type: "live",
      object: { ...statefulSet, metadata: { ...statefulSet.metadata, generation: 1 } },
    } as const;
    const { current } = snapshot(at("stable"));
    expect(
      computeEngine(snapshot(at("stable"), { ...found, current: { ...current, statefulSet: live } })),
    ).toMatchObject({
      step: "verify",
    });
  });

  test.each([
    ["the engine's template", "spec.template.spec.containers[0]"],
    ["the class's template", "spec.engineClassRef.template.spec.containers[0]"],
  ])("a variable of %s is rejected at %s", (whose, path) => {
    const template = { spec: { containers: [{ name: "engine", envFrom: [{ secretRef: { name: OURS } }] }] } };
    const own = whose === "the engine's template";
    const of = engine({
      spec: { engineClassRef: "c", template: own ? template : {} },
      status: { phase: "creating", currentGeneration: 0, activeGeneration: -1, conditions: [instanceReady] },
    });
    const object = engineClass({ spec: { template: own ? {} : template, storage: {} } });
    expect(computeEngine(snapshot(of, { engineClass: { type: "found", object } }))).toMatchObject({
      type: "refuse",
      refusal: { reason: "TemplateRejected", event: "TemplateRejected", violations: [{ path, type: "Forbidden" }] },
    });
  });
});
