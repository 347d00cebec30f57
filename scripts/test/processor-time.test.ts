// Processor time from /proc: of lines as the kernel writes them, and of this process, which burns some.
import { expect, test } from "vitest";
import { parseProcessTimes, processorSeconds } from "./processor-time.ts";

test("own time and that of children who were waited for, whatever the process is called", () => {
  const stat = "7 (a) b (c) S 3 7 7 0 -1 4194560 1 2 3 4 150 50 30 20 20 0 1 0 55 0 0";
  expect(parseProcessTimes(stat)).toEqual({ parent: 3, ticks: 250 });
});

test("a tree is its root and everything below it, and nothing beside it", () => {
  const all = new Map([
    [1, { parent: 0, ticks: 1_000 }],
    [2, { parent: 1, ticks: 100 }],
    [3, { parent: 2, ticks: 30 }],
    [4, { parent: 3, ticks: 7 }],
    [5, { parent: 1, ticks: 500 }],
  ]);
  expect(processorSeconds(2, all)).toBeCloseTo(1.37);
  expect(processorSeconds(9, all)).toBe(0);
});

test("it grows with what this process does", () => {
  const before = processorSeconds(process.pid);
  const usage = process.cpuUsage();
  const burnt = (): number => process.cpuUsage(usage).user + process.cpuUsage(usage).system;
  while (burnt() < 150_000) for (let step = 0; step < 1e6; step += 1) Math.sqrt(step);
  expect(processorSeconds(process.pid) - before).toBeGreaterThanOrEqual(0.1);
});
