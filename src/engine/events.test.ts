import { expect, test } from "vitest";
import {
  engine,
  engineClass,
  instanceReady,
  liveSet,
  READY,
  routingTo,
  snapshot,
} from "../../test/support/engine-fixtures.ts";
import { computeEngine } from "./compute/compute-engine.ts";
import { eventsOf } from "./events.ts";
import type { EngineSnapshot } from "./snapshot.ts";

const old = engine({
  spec: { template: { spec: { containers: [{ name: "engine", env: [{ name: "TOKEN", value: "secret" }] }] } } },
});

function told(
  phase: string,
  [current, active, draining]: readonly number[],
  changes: Partial<EngineSnapshot> = {},
  reason?: string,
) {
  const ready = reason === undefined ? [] : [{ ...instanceReady, type: "Ready", status: "False", reason } as const];
  const status = {
    phase,
    currentGeneration: current ?? 0,
    activeGeneration: active ?? 0,
    conditions: [instanceReady, ...ready],
  };
  const s = snapshot(
    engine({ status: draining === undefined ? status : { ...status, drainingGeneration: draining } }),
    changes,
  );
  const decision = computeEngine(s);
  return decision.type === "broken"
    ? []
    : eventsOf(decision, s.engine).map(({ reason: r, type, note }) => [type, r, note] as const);
}

test("GenerationCreated names the field and never its value", () => {
  const [event] = told("stable", [1, 1], { current: liveSet(old, 1) });
  expect(event?.slice(0, 2)).toEqual(["Normal", "GenerationCreated"]);
  expect(event?.[2]).toContain("Generation 2 replaces 1");
  expect(event?.[2]).toContain("env");
  expect(event?.[2]).not.toContain("secret");
});

test("GenerationAbandoned on T8", () => {
  expect(told("creating", [1, 0], { current: liveSet(old, 1) })[0]?.slice(0, 2)).toEqual([
    "Normal",
    "GenerationAbandoned",
  ]);
});

test("TrafficSwitched on a roll, not on the first deploy", () => {
  expect(told("switching", [1, 0], { routing: routingTo(1) })[0]?.[1]).toBe("TrafficSwitched");
  expect(told("switching", [0, -1], { routing: routingTo(0), pods: READY })).toEqual([]);
});

test("DrainCheckFailing once per drain, again after a recovery", () => {
  const failing = { drainProbe: { type: "failing", pod: "p", cause: "why" } } as const;
  expect(told("draining", [1, 1, 0], failing, "Rolling")[0]?.slice(0, 2)).toEqual(["Warning", "DrainCheckFailing"]);
  expect(told("draining", [1, 1, 0], failing, "DrainCheckFailing")).toEqual([]);
});

test("a refusal is told on entry; a missing instance is not one", () => {
  const missing = { engineClass: { type: "missing", name: engineClass().metadata?.name ?? "" } } as const;
  expect(told("stable", [1, 1], missing)[0]?.[1]).toBe("EngineClassUnready");
  expect(told("stable", [1, 1], missing, "FireboltEngineClassUnready")).toEqual([]);
  expect(told("stable", [1, 1], { instance: undefined })).toEqual([]);
});
