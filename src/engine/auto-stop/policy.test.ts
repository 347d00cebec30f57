import { expect, test } from "vitest";
import type { AutoStop } from "../../api/firebolt-engine/auto-stop.ts";
import { resolvePolicy } from "./policy.ts";

const block = (changes: Partial<AutoStop> = {}): AutoStop => ({
  enabled: true,
  activeReplicas: 2,
  idleReplicas: 0,
  idleTimeout: "30m",
  pollInterval: "1m",
  ...changes,
});

test("nothing, or a block that is switched off, is off", () => {
  expect(resolvePolicy(undefined, undefined)).toBeUndefined();
  expect(resolvePolicy(block({ enabled: false }), undefined)).toBeUndefined();
});

test("the engine's block counts as a whole: one that is off hides the class's", () => {
  expect(resolvePolicy(block({ enabled: false }), block())).toBeUndefined();
  const policy = resolvePolicy(block(), block({ idleReplicas: 1, idleTimeout: "1h" }));
  expect(policy).toMatchObject({ idleReplicas: 0, idleTimeoutMs: 1_800_000 });
});

test("without a block of its own the engine takes the class's", () => {
  expect(resolvePolicy(undefined, block({ activeReplicas: 7 }))?.activeReplicas).toBe(7);
});

test.each(["0s", "-5m", "nonsense"])("an idle timeout of %s counts as thirty minutes", (text) => {
  expect(resolvePolicy(block({ idleTimeout: text, pollInterval: text }), undefined)).toMatchObject({
    idleTimeoutMs: 1_800_000,
    pollIntervalMs: 60_000,
  });
});

test("intervals are at least a second", () => {
  expect(resolvePolicy(block({ idleTimeout: "1ms", pollInterval: "1ms" }), undefined)).toMatchObject({
    idleTimeoutMs: 1_000,
    pollIntervalMs: 1_000,
  });
});
