import { expect, test } from "vitest";
import {
  EARLIER,
  engine,
  engineClass,
  instance,
  instanceReady,
  liveSet,
  NOW,
  snapshot,
} from "../../../test/engine/support/fixtures.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";
import { computeEngine } from "./compute-engine.ts";

const GATED = ["stable", "stopped", "creating"];
const stored = { currentGeneration: 1, activeGeneration: 1, conditions: [instanceReady] };
const judged = (changes: Partial<EngineSnapshot>, spec = {}) =>
  GATED.map((phase) => computeEngine(snapshot(engine({ spec, status: { ...stored, phase } }), changes)));

const LOST = {
  type: "Ready",
  status: "False" as const,
  reason: "Provisioning",
  message: "MetadataReady: pod x: container metadata crashes",
  lastTransitionTime: EARLIER,
};

test("an instance whose deletion its engines hold is used as before: stopped engines are still woken", () => {
  const held = instance({
    metadata: {
      name: "main",
      deletionTimestamp: EARLIER,
      finalizers: ["compute.firebolt.io/instance-cleanup"],
    },
  });
  for (const decision of judged({ instance: held })) expect(decision).not.toMatchObject({ step: "instance-gate" });
});

const condition = (reason: string, message: string) => ({
  type: "Ready",
  status: "False",
  reason,
  message: expect.stringContaining(message),
});

test.each([
  [
    "class-gate: the class is missing",
    { engineClass: { type: "missing", name: "lost" } },
    'FireboltEngineClass "lost" not found in namespace ns',
  ],
  [
    "class-gate: the class sets operator-owned fields",
    {
      engineClass: {
        type: "found",
        object: engineClass({
          status: {
            conditions: [
              {
                type: "Ready",
                status: "False",
                reason: "OperatorOwnedFieldSet",
                message: "spec.x: Forbidden",
                lastTransitionTime: EARLIER,
              },
            ],
          },
        }),
      },
    },
    'FireboltEngineClass "c" cannot be used: spec.x: Forbidden',
  ],
  [
    "class-gate: the class was edited after its verdict, and sets operator-owned fields now",
    {
      engineClass: {
        type: "found",
        object: engineClass({
          metadata: { namespace: "ns", name: "c", generation: 2 },
          spec: { template: { spec: { hostNetwork: true } }, storage: {} },
          status: {
            conditions: [
              {
                type: "Ready",
                status: "True",
                reason: "Admissible",
                message: "",
                observedGeneration: 1,
                lastTransitionTime: EARLIER,
              },
            ],
          },
        }),
      },
    },
    'FireboltEngineClass "c" cannot be used: spec.template.spec.hostNetwork',
  ],
] as const)(
  "gate-is-no-error: %s → FireboltEngineClassUnready, 10 s, InstanceReady untouched",
  (_, changes, message) => {
    for (const decision of judged({ ...changes, instance: undefined }))
      expect(decision).toMatchObject({
        type: "refuse",
        step: "class-gate",
        recheck: { afterMs: 10_000 },
        status: { ...stored, conditions: [instanceReady, condition("FireboltEngineClassUnready", message)] },
      });
  },
);

test.each([
  ["no verdict yet", undefined],
  [
    "DeletionBlocked",
    { type: "Ready", status: "False", reason: "DeletionBlocked", message: "", lastTransitionTime: EARLIER },
  ],
  ["Admissible", { type: "Ready", status: "True", reason: "Admissible", message: "", lastTransitionTime: EARLIER }],
] as const)("validation-gate: a class with %s is usable", (_, ready) => {
  const object = engineClass(ready === undefined ? {} : { status: { conditions: [ready] } });
  for (const decision of judged({ engineClass: { type: "found", object } })) expect(decision.type).not.toBe("refuse");
});

test.each([
  [
    "created-before-instance: no such instance",
    { instance: undefined },
    'FireboltInstance "main" not found in namespace ns (instances are looked up in the engine\'s own namespace)',
  ],
  [
    "what-opens-the-instance-gate, instance-deleted-under-engines: the instance is being deleted",
    { instance: instance({ metadata: { name: "main", deletionTimestamp: EARLIER } }) },
    "is being deleted",
  ],
  [
    "what-opens-the-instance-gate, metadata-endpoint-lost: no metadata endpoint",
    { instance: instance({ metadataEndpoint: "" }) },
    "no metadata endpoint",
  ],
  ["what-opens-the-instance-gate: no id", { instance: instance({ id: "" }) }, "no id"],
  [
    "an instance that was ready and is not any more says why",
    {
      instance: instance({ metadataEndpoint: "", status: { phase: "Degraded", conditions: [LOST] } }),
    },
    'FireboltInstance "main" has lost its metadata endpoint: MetadataReady: pod x: container metadata crashes',
  ],
] as const)("instance-gate: %s → InstanceNotReady on both conditions, 10 s, nothing else", (_, changes, message) => {
  for (const decision of judged(changes))
    expect(decision).toMatchObject({
      type: "refuse",
      step: "instance-gate",
      recheck: { afterMs: 10_000 },
      status: {
        ...stored,
        conditions: [
          {
            type: "InstanceReady",
            status: "False",
            reason: "InstanceNotReady",
            message: expect.stringContaining(message),
            lastTransitionTime: NOW,
          },
          condition("InstanceNotReady", message),
        ],
      },
    });
});

test("engine-without-spec: an engine without a spec fails the instance gate", () => {
  const { spec: _, ...bare } = engine({ status: { ...stored, phase: "stable" } });
  const s = snapshot(engine(), { engine: bare, phase: "stable", status: bare.status, instance: undefined });
  expect(computeEngine(s)).toMatchObject({ step: "instance-gate", refusal: { reason: "InstanceNotReady" } });
});

test("override-opens-no-gate: metadataEndpointOverride does not open the gate by itself", () => {
  const spec = { metadataEndpointOverride: "elsewhere:7000" };
  for (const decision of judged({ instance: instance({ metadataEndpoint: "" }) }, spec))
    expect(decision.step).toBe("instance-gate");
});

const resources = (cpu: string) => ({
  template: { spec: { containers: [{ name: "engine", resources: { limits: { cpu } } }] } },
});

test.each([
  ["TemplateRejected", {}, { template: { spec: { hostNetwork: true } } }, "spec.template.spec.hostNetwork"],
  [
    "ResourceBoundsExceeded",
    { bounds: { cpu: "4" } },
    resources("5"),
    "spec.template.spec.containers[engine].resources.limits[cpu]",
  ],
] as const)("validation-gate: %s → 10 s, InstanceReady still True", (reason, changes, spec, path) => {
  for (const decision of judged(changes, spec)) {
    expect(decision).toMatchObject({
      type: "refuse",
      step: "validation-gate",
      recheck: { afterMs: 10_000 },
      status: { ...stored, conditions: [{ type: "InstanceReady", status: "True" }, condition(reason, path)] },
    });
    expect(decision.type === "refuse" && decision.refusal.violations[0]?.path).toBe(path);
  }
});

test("an engine name that makes its children's names too long is rejected by name", () => {
  const name = "e".repeat(46);
  const of = engine({ metadata: { name }, status: { ...stored, phase: "creating" } });
  expect(computeEngine(snapshot(of))).toMatchObject({
    type: "refuse",
    refusal: { reason: "NameRejected", message: expect.stringContaining("metadata.name") },
  });
});

test("the order of gates: class, instance, name, template, bounds", () => {
  const bad = {
    ...resources("5"),
    template: { spec: { hostNetwork: true, containers: resources("5").template.spec.containers } },
  };
  const changes = { bounds: { cpu: "4" } } as const;
  const reason = (more: Partial<EngineSnapshot>) =>
    judged({ ...changes, ...more }, bad).map((d) => (d.type === "refuse" ? d.refusal.reason : d.type));
  expect(new Set(reason({ instance: undefined, engineClass: { type: "missing", name: "x" } }))).toEqual(
    new Set(["FireboltEngineClassUnready"]),
  );
  expect(new Set(reason({ instance: undefined }))).toEqual(new Set(["InstanceNotReady"]));
  expect(new Set(reason({}))).toEqual(new Set(["TemplateRejected"]));
});

test("when the gate opens, InstanceReady turns True", () => {
  const closed = { ...instanceReady, status: "False", reason: "InstanceNotReady" } as const;
  const of = engine({ status: { ...stored, phase: "stable", conditions: [closed] } });
  expect(computeEngine(snapshot(of, { current: liveSet(of, 1) }))).toMatchObject({
    step: "verify",
    status: {
      conditions: [
        { type: "InstanceReady", status: "True", reason: "InstanceReady", lastTransitionTime: NOW },
        { type: "Ready", status: "True" },
      ],
    },
  });
});
