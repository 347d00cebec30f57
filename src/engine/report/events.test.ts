import { describe, expect, test } from "vitest";
import {
  absentSet,
  EARLIER,
  type EngineChanges,
  engine,
  engineClass,
  instanceReady,
  liveSet,
  NOT_READY,
  READY,
  routingTo,
  snapshot,
} from "../../../test/engine/support/fixtures.ts";
import type { EngineStatus } from "../../api/firebolt-engine/status.ts";
import { contentHash } from "../../podtemplate/content-hash.ts";
import { computeEngine } from "../compute/compute-engine.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";
import { aliasEventsOf, eventsOf } from "./events.ts";

const old = engine({
  spec: { template: { spec: { containers: [{ name: "engine", env: [{ name: "TOKEN", value: "secret" }] }] } } },
});

interface Before {
  readonly changes?: Partial<EngineSnapshot>;
  readonly ready?: { readonly reason: string; readonly lastTransitionTime?: string };
  readonly reported?: NonNullable<EngineStatus["reported"]>;
  readonly spec?: EngineChanges["spec"];
  readonly drainingSince?: string;
  readonly drainChecked?: boolean;
}

function recorded(phase: string, [current, active, draining]: readonly number[], before: Before = {}) {
  const { changes = {}, ready, spec = {}, ...drain } = before;
  const conditions =
    ready === undefined ? [] : [{ ...instanceReady, type: "Ready", status: "False", message: "", ...ready } as const];
  const status = {
    phase,
    currentGeneration: current ?? 0,
    activeGeneration: active ?? 0,
    conditions: [instanceReady, ...conditions],
    ...(draining === undefined ? {} : { drainingGeneration: draining }),
    ...drain,
  };
  const s = snapshot(engine({ spec: spec ?? {}, status }), changes);
  const decision = computeEngine(s);
  return decision.type === "broken"
    ? []
    : [...aliasEventsOf(decision, s), ...eventsOf(decision, s)].map(
        ({ reason, type, note }) => [type, reason, note] as const,
      );
}

const reasons = (events: ReturnType<typeof recorded>) => events.map(([, reason]) => reason);

describe("generations", () => {
  test("GenerationCreated names the field and never its value", () => {
    const [event] = recorded("stable", [1, 1], { changes: { current: liveSet(old, 1) } });
    expect(event?.slice(0, 2)).toEqual(["Normal", "GenerationCreated"]);
    expect(event?.[2]).toContain("Generation 2 replaces 1");
    expect(event?.[2]).toContain("env");
    expect(event?.[2]).not.toContain("secret");
  });

  test("abandon: GenerationAbandoned, which reports the removal too", () => {
    const [event, ...more] = recorded("creating", [1, 0], { changes: { current: liveSet(old, 1) } });
    expect(event?.slice(0, 2)).toEqual(["Normal", "GenerationAbandoned"]);
    expect(event?.[2]).toContain("Generation 1 is abandoned for 2 and deleted: ");
    expect(more).toEqual([]);
  });

  test("TrafficSwitched on a roll, not on the first deploy", () => {
    expect(reasons(recorded("switching", [1, 0], { changes: { routing: routingTo(1) } }))).toEqual(["TrafficSwitched"]);
    const first = recorded("switching", [0, -1], { changes: { routing: routingTo(0), pods: READY } });
    expect(reasons(first)).not.toContain("TrafficSwitched");
  });

  test("GenerationCleaned where the engine does not become ready: a stop, or pods lost meanwhile", () => {
    const stop = recorded("cleaning", [1, 1, 0], { spec: { replicas: 0 }, changes: { pods: { ...READY, wanted: 0 } } });
    expect(stop).toEqual([["Normal", "GenerationCleaned", "Generation 0 is deleted"]]);
    expect(reasons(recorded("cleaning", [1, 1, 0], { changes: { pods: NOT_READY } }))).toEqual(["GenerationCleaned"]);
  });
});

describe("EngineReady", () => {
  test("at the first deploy: generation, replicas, duration", () => {
    const events = recorded("switching", [0, -1], { changes: { routing: routingTo(0) }, ready: { reason: "Rolling" } });
    // The StatefulSet of the fixture is an hour old.
    expect(events).toEqual([["Normal", "EngineReady", "Generation 0 serves with 2 replicas, 3600 s after its start"]]);
  });

  test("at the end of a roll, with the generation that went", () => {
    expect(recorded("cleaning", [1, 1, 0], { ready: { reason: "Rolling" } })).toEqual([
      ["Normal", "EngineReady", "Generation 1 serves with 2 replicas, 3600 s after its start. Generation 0 is deleted"],
    ]);
  });

  test("late, when pods were missing at the end of the rollout", () => {
    // Not ready since before the StatefulSet was created, so this generation has never been.
    const ready = { reason: "PodsNotReady", lastTransitionTime: EARLIER };
    expect(reasons(recorded("stable", [1, 1], { ready }))).toEqual(["EngineReady"]);
  });

  test("not when pods or the instance come back later", () => {
    const ready = { reason: "PodsNotReady", lastTransitionTime: "2026-01-01T11:30:00Z" };
    expect(recorded("stable", [1, 1], { ready })).toEqual([]);
    expect(recorded("stable", [1, 1], { ready: { ...ready, reason: "InstanceNotReady" } })).toEqual([]);
  });
});

describe("drains", () => {
  const drain = { required: true, intervalMs: 5_000, settleMs: 35_000 };
  const busy = { drain, drainProbe: { type: "busy", pod: "e-g0-1", queries: 3 } } as const;
  const failing = { drain, drainProbe: { type: "failing", pod: "p", cause: "why" } } as const;
  const switched = { ready: { reason: "Rolling" }, drainingSince: "2026-01-01T11:00:00Z" };
  const entered = switched;
  const waiting = { ...switched, drainChecked: true } as const;

  test("DrainStarted with the first check that finds queries, and not again", () => {
    expect(recorded("draining", [1, 1, 0], { changes: busy, ...entered })).toEqual([
      ["Normal", "DrainStarted", "Generation 0 is kept until its queries finish (3 on pod e-g0-1)"],
    ]);
    expect(recorded("draining", [1, 1, 0], { changes: busy, ...waiting })).toEqual([]);
  });

  test("none for a drain that is over at once", () => {
    expect(recorded("draining", [1, 1, 0], { changes: { drainProbe: { type: "drained" } }, ...entered })).toEqual([]);
  });

  test("a generation that cannot be probed records both events", () => {
    expect(reasons(recorded("draining", [1, 1, 0], { changes: failing, ...entered }))).toEqual([
      "DrainStarted",
      "DrainCheckFailing",
    ]);
  });

  test("DrainCheckFailing once per drain, again after a recovery", () => {
    expect(recorded("draining", [1, 1, 0], { changes: failing, ...waiting })[0]?.slice(0, 2)).toEqual([
      "Warning",
      "DrainCheckFailing",
    ]);
    const told2 = recorded("draining", [1, 1, 0], {
      changes: failing,
      ...waiting,
      ready: { reason: "DrainCheckFailing" },
    });
    expect(told2).toEqual([]);
    expect(
      recorded("draining", [1, 1, 0], { changes: busy, ...waiting, ready: { reason: "DrainCheckFailing" } }),
    ).toEqual([]);
  });
});

describe("refusals", () => {
  const missing = (name: string) => ({ engineClass: { type: "missing", name } }) as const;
  const refusedClass = {
    engineClass: {
      type: "found",
      object: engineClass({ spec: { template: { spec: { hostNetwork: true } }, storage: {} } }),
    },
  } as const;

  test("EngineClassNotFound and EngineClassUnready, each on entry", () => {
    const [event] = recorded("stable", [1, 1], { changes: missing("lost") });
    expect(event?.slice(0, 2)).toEqual(["Warning", "EngineClassNotFound"]);
    expect(event?.[2]).toContain('"lost"');
    expect(reasons(recorded("stable", [1, 1], { changes: refusedClass }))).toEqual(["EngineClassUnready"]);
    const before = {
      ready: { reason: "FireboltEngineClassUnready" },
      reported: { refusal: contentHash(`FireboltEngineClassUnready: ${event?.[2]}`) },
    };
    expect(recorded("stable", [1, 1], { changes: missing("lost"), ...before })).toEqual([]);
    // The reason of the condition is the same, the cause is another.
    expect(reasons(recorded("stable", [1, 1], { changes: refusedClass, ...before }))).toEqual(["EngineClassUnready"]);
    expect(reasons(recorded("stable", [1, 1], { changes: missing("other"), ...before }))).toEqual([
      "EngineClassNotFound",
    ]);
  });

  test("a missing instance is none", () => {
    expect(recorded("stable", [1, 1], { changes: { instance: undefined } })).toEqual([]);
  });

  test("TemplateRejected", () => {
    const spec = { template: { spec: { hostNetwork: true } } };
    expect(reasons(recorded("stable", [1, 1], { spec }))).toEqual(["TemplateRejected"]);
  });

  test("ResourceBoundsExceeded", () => {
    const containers = [{ name: "engine", resources: { limits: { cpu: "2" } } }];
    const refused = recorded("stable", [1, 1], {
      spec: { template: { spec: { containers } } },
      changes: { bounds: { cpu: "1" } },
    });
    expect(reasons(refused)).toEqual(["ResourceBoundsExceeded"]);
  });
});

test("SecretAliasVolumeDropped with the StatefulSet that lacks the volume, and only then", () => {
  const secretName = "main-metadata-postgres-creds";
  const spec = { template: { spec: { volumes: [{ name: "peek", secret: { secretName } }] } } };
  const current = absentSet(0);
  const [event, ...more] = recorded("creating", [0, -1], { spec, changes: { current, routing: { type: "absent" } } });
  expect(event?.slice(0, 2)).toEqual(["Warning", "SecretAliasVolumeDropped"]);
  expect(event?.[2]).toContain(`spec.template.spec.volumes[0] (Secret "${secretName}")`);
  expect(more).toEqual([]);
  expect(recorded("stable", [0, 0], { spec })).not.toContainEqual(expect.arrayContaining(["SecretAliasVolumeDropped"]));
});
