import { expect, test } from "vitest";
import { type CapacityInput, holdCapacity } from "./capacity.ts";

const MIB = 1024 * 1024;
const input = (changes: Partial<CapacityInput> = {}): CapacityInput => ({
  envoyLimitBytes: 1024 * MIB,
  envoyAllocatedBytes: undefined,
  perHoldBytes: 2 * MIB,
  fallback: 256,
  ...changes,
});

test.each<readonly [string, Partial<CapacityInput>, number]>([
  ["a quarter of the limit, before the first reading", {}, 128],
  ["what Envoy uses of its other three quarters does not count", { envoyAllocatedBytes: 256 * MIB }, 128],
  ["what it uses beyond a quarter does", { envoyAllocatedBytes: 356 * MIB }, 78],
  ["nothing is left", { envoyAllocatedBytes: 512 * MIB }, 0],
  ["never below zero", { envoyAllocatedBytes: 1000 * MIB }, 0],
  ["no limit", { envoyLimitBytes: 0, envoyAllocatedBytes: 900 * MIB }, 256],
  ["no size of a hold", { perHoldBytes: 0 }, 256],
  ["a fallback of zero sheds everything", { envoyLimitBytes: 0, fallback: 0 }, 0],
  ["at most 100000", { envoyLimitBytes: 10 ** 15 }, 100_000],
  ["the agent's own memory", { envoyLimitBytes: 10 ** 15, ownLimitBytes: 256 * MIB }, 1_024],
])("%s", (_, changes, want) => {
  expect(holdCapacity(input(changes))).toBe(want);
});
