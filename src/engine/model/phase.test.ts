import { expect, test } from "vitest";
import { ENGINE_PHASES } from "../../api/phases.ts";
import { isGated, isLegalMove, MOVES, parsePhase, restPhase } from "./phase.ts";

test.each([
  [undefined, "uninitialised"],
  ["", "uninitialised"],
  ["stable", "stable"],
  ["failed", "unknown"],
  ["Stable", "unknown"],
] as const)("the stored phase %j reads as %s", (text, phase) => {
  expect(parsePhase(text)).toBe(phase);
});

test("the only place that distinguishes stable from stopped", () => {
  expect(restPhase({ replicas: 0 })).toBe("stopped");
  expect(restPhase({ replicas: 3 })).toBe("stable");
  expect(restPhase(undefined)).toBe("stable");
});

test("gates-before-the-switch-only, rollout-ends-without-instance: only the phases that render from instance and class are gated", () => {
  expect(ENGINE_PHASES.filter(isGated)).toEqual(["creating", "stable", "stopped"]);
});

test("staying is legal, skipping a step is not", () => {
  for (const phase of ENGINE_PHASES) expect(isLegalMove(phase, phase)).toBe(true);
  expect(isLegalMove("creating", "stable")).toBe(false);
  expect(isLegalMove("stable", "draining")).toBe(false);
  expect(isLegalMove("cleaning", "creating")).toBe(false);
});

test("draining-may-rest, nothing-to-drain: draining may come to rest", () => {
  expect(MOVES.draining).toEqual(expect.arrayContaining(["stable", "stopped"]));
});
