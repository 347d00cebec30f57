// Which reads a pass makes beyond the caches: each test names the one that its state needs, and the rest must not be
// made.
import { expect, test } from "vitest";
import {
  at,
  engine,
  IMAGE,
  instanceReady,
  liveSet,
  routingTo,
  snapshot,
} from "../../../test/engine/support/fixtures.ts";
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";
import { computeEngine } from "./compute-engine.ts";
import { inquiriesOf } from "./inquiries.ts";

const POLICY = { enabled: true, idleTimeout: "30m", pollInterval: "1m", activeReplicas: 2, idleReplicas: 0 } as const;
const withPolicy = (phase: string, generations: readonly number[]) => at(phase, generations, { autoStop: POLICY });

const inquired = (of: FireboltEngine, changes: Partial<EngineSnapshot> = {}) =>
  Object.entries(inquiriesOf(snapshot(of, changes))).flatMap(([name, value]) =>
    value === undefined || value === false ? [] : [name],
  );

test.each([
  ["an engine at rest needs nothing", at("stable", [1, 1]), {}, []],
  ["auto-stop at rest needs the activity", withPolicy("stable", [1, 1]), {}, ["activity"]],
  ["auto-stop during a rollout needs nothing", withPolicy("creating", [1, 0]), {}, []],
  ["a drain needs nothing for auto-stop", withPolicy("draining", [1, 1, 0]), {}, []],
  ["a closed gate needs nothing", withPolicy("stable", [1, 1]), { instance: undefined }, []],
  [
    "missing pods need the warnings",
    at("stable", [1, 1]),
    { pods: { wanted: 2, total: 0, ready: 0, allReady: false } },
    ["warningsOf"],
  ],
  ["an edited Service needs its editor", at("stable", [1, 1]), { routing: routingTo(0) }, ["serviceEditor"]],
  ["a new generation needs nothing", at("stable", [1, 1]), { current: liveSet(engine({ spec: IMAGE }), 1) }, []],
] as const)("%s", (_, of, changes, want) => {
  expect(inquired(of, changes)).toEqual(want);
});

test("a rejected write is reported, and keeps a wake request", () => {
  const rejected = { type: "rejected", message: "quota" } as const;
  expect(computeEngine(snapshot(at("stable", [1, 1]), { rejected }))).toMatchObject({
    type: "refuse",
    step: "object-rejected",
    refusal: { reason: "ObjectRejected", message: "The API server rejected an object of the engine: quota" },
  });
  const stopped = engine({
    spec: { replicas: 0, autoStop: POLICY },
    status: {
      phase: "stopped",
      currentGeneration: 1,
      activeGeneration: 1,
      autoStopReason: "Stopped",
      conditions: [instanceReady],
    },
  });
  const nowMs = snapshot(stopped).nowMs;
  const wakeDemand = { stampMs: nowMs, isWaitedFor: true, gateway: "g" };
  const findings = { activity: { type: "notProbed" } } as const;
  expect(computeEngine(snapshot(stopped, { rejected, wakeDemand, findings }))).toMatchObject({
    type: "hold",
    scale: { to: 2, reason: "WakeRequested" },
  });
});
