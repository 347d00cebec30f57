import { InvariantError } from "@firebolt-operator/kube";
import { expect, test } from "vitest";
import { FakeEngineStore } from "../../../test/engine/support/fake-engine-store.ts";
import { engine, snapshot } from "../../../test/engine/support/fixtures.ts";
import type { EngineDecision, NextStatus } from "../model/decision.ts";
import { applyObjects } from "./apply.ts";

const at = (phase: string, current: number, active: number) =>
  snapshot(engine({ status: { phase, currentGeneration: current, activeGeneration: active } }));
const to = (phase: NextStatus["phase"], currentGeneration: number, activeGeneration: number): NextStatus => ({
  phase,
  currentGeneration,
  activeGeneration,
});
const move = (status: NextStatus): EngineDecision => ({
  type: "move",
  step: "pods-ready",
  status,
  ensure: {},
  recheck: "requeue",
});

test.each([
  ["a move that is not in the table", at("creating", 1, 0), to("stable", 1, 0)],
  ["no-bump-mid-rollout: a bump outside the phases that may", at("draining", 1, 1), to("cleaning", 2, 1)],
  ["numbers-never-reused: a bump by two", at("creating", 1, 0), to("creating", 3, 0)],
  ["numbers-never-reused: a counter that goes down", at("creating", 2, 0), to("creating", 1, 0)],
  ["active-never-goes-back: an active generation that goes down", at("switching", 2, 2), to("stable", 2, 1)],
  ["active-never-goes-back: an active generation ahead of current", at("switching", 2, 1), to("stable", 2, 3)],
] as const)("the guard rejects %s before any write", async (_, before, status) => {
  const world = new FakeEngineStore();
  await expect(applyObjects(move(status), before, world)).rejects.toThrow(InvariantError);
  expect(world.requests).toEqual([]);
});

test("contradiction-at-rest: thrown, not written", async () => {
  const world = new FakeEngineStore();
  const broken: EngineDecision = { type: "broken", step: "contradiction-at-rest", detail: "why" };
  await expect(applyObjects(broken, at("stable", 2, 1), world)).rejects.toThrow("contradiction-at-rest: why");
  expect(world.requests).toEqual([]);
});

test("abandon, two-writers: on an old view it deletes nothing", async () => {
  const world = new FakeEngineStore();
  const stale = at("creating", 1, 0);
  world.put("FireboltEngine", engine({ status: { phase: "stable", currentGeneration: 1, activeGeneration: 1 } }));
  const abandon: EngineDecision = {
    type: "abandon",
    step: "abandon",
    status: to("creating", 2, 0),
    cause: { path: "spec.replicas", live: "1", wanted: "2" },
    generation: 1,
    remove: [{ kind: "StatefulSet", name: "e-g1", uid: "e-g1-uid" }],
  };
  expect(await applyObjects(abandon, stale, world)).toMatchObject({ type: "discarded" });
  expect(world.requests).toEqual(["get FireboltEngine e", "get Service e-service"]);
});
