// Which events are worth their line.
import { expect, test } from "vitest";
import { newestOf } from "./events.ts";

const event = (object: string, minute: number) => ({
  lastSeen: `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`,
  ...{ type: "Normal", object, reason: "R", message: "", count: 1 },
});

test("events of pods do not crowd out those of the instance itself", () => {
  const own = [1, 2, 3].map((minute) => event("fireboltinstance/i", minute));
  const pods = Array.from({ length: 20 }, (_, index) => event("pod/i-gateway-1", 10 + index));
  expect(newestOf([...pods, ...own], 8)).toEqual([...own, ...pods.slice(-5)]);
  expect(newestOf(own, 8)).toEqual(own);
  const many = Array.from({ length: 20 }, (_, index) => event("fireboltinstance/i", index));
  expect(newestOf(many, 8)).toEqual(many.slice(-8));
});
