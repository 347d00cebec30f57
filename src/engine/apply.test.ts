import { InvariantError } from "@firebolt-operator/kube";
import { expect, test } from "vitest";
import { engine, snapshot } from "../../test/support/engine-fixtures.ts";
import { MemoryEngineWorld } from "../../test/support/memory-engine-world.ts";
import { applyDecision } from "./apply.ts";
import type { EngineDecision, NextStatus } from "./decision.ts";

const at = (phase: string, current: number, active: number) =>
  snapshot(engine({ status: { phase, currentGeneration: current, activeGeneration: active } }));
const to = (phase: NextStatus["phase"], currentGeneration: number, activeGeneration: number): NextStatus => ({
  phase,
  currentGeneration,
  activeGeneration,
});
const move = (status: NextStatus): EngineDecision => ({ type: "move", row: "T10", status, ensure: {}, recheck: "now" });

test.each([
  ["a move that is not in the table", at("creating", 1, 0), to("stable", 1, 0)],
  ["a bump outside the phases that may (I7)", at("draining", 1, 1), to("cleaning", 2, 1)],
  ["a bump by two (I2)", at("creating", 1, 0), to("creating", 3, 0)],
  ["a counter that goes down (I2)", at("creating", 2, 0), to("creating", 1, 0)],
  ["an active generation that goes down (I3)", at("switching", 2, 2), to("stable", 2, 1)],
  ["an active generation ahead of current (I3)", at("switching", 2, 1), to("stable", 2, 3)],
] as const)("the guard refuses %s before any write", async (_, before, status) => {
  const world = new MemoryEngineWorld();
  await expect(applyDecision(move(status), before, world)).rejects.toThrow(InvariantError);
  expect(world.requests).toEqual([]);
});

test("T5 is thrown, not written", async () => {
  const world = new MemoryEngineWorld();
  const broken: EngineDecision = { type: "broken", row: "T5", detail: "why" };
  await expect(applyDecision(broken, at("stable", 2, 1), world)).rejects.toThrow("T5: why");
  expect(world.requests).toEqual([]);
});

test("T8 on an old view deletes nothing (B26)", async () => {
  const world = new MemoryEngineWorld();
  const stale = at("creating", 1, 0);
  world.put("FireboltEngine", engine({ status: { phase: "stable", currentGeneration: 1, activeGeneration: 1 } }));
  const abandon: EngineDecision = {
    type: "abandon",
    row: "T8",
    status: to("creating", 2, 0),
    cause: { path: "spec.replicas", live: "1", wanted: "2" },
    generation: 1,
    remove: [{ kind: "StatefulSet", name: "e-g1", uid: "e-g1-uid" }],
  };
  expect(await applyDecision(abandon, stale, world)).toMatchObject({ type: "discarded" });
  expect(world.requests).toEqual(["get FireboltEngine e", "get Service e-service"]);
});
