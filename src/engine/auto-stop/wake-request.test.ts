import { expect, test } from "vitest";
import { newestWakeRequest } from "./wake-request.ts";

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 1_000;
const stamp = (ms: number) => ({ annotations: { "firebolt.io/wake-requested": new Date(ms).toISOString() } });
const demand = (stampMs: number, isWaitedFor = false) => ({ stampMs, isWaitedFor, gateway: "g" });

test.each([
  { name: "none", want: undefined },
  { name: "a stamp", metadata: stamp(NOW - 2 * SECOND), want: { atMs: NOW - 2 * SECOND, gateway: undefined } },
  { name: "demand", demand: demand(NOW - 2 * SECOND), want: { atMs: NOW - 2 * SECOND, gateway: "g" } },
  {
    name: "two-wake-signals: both: the newer stamp",
    metadata: stamp(NOW - SECOND),
    demand: demand(NOW - 2 * SECOND),
    want: { atMs: NOW - SECOND, gateway: undefined },
  },
  {
    name: "two-wake-signals: both: the newer demand",
    metadata: stamp(NOW - 3 * SECOND),
    demand: demand(NOW - 2 * SECOND),
    want: { atMs: NOW - 2 * SECOND, gateway: "g" },
  },
  {
    name: "a stamp that lies ahead does not hide demand",
    metadata: stamp(NOW + 3_600 * SECOND),
    demand: demand(NOW),
    want: { atMs: NOW, gateway: "g" },
  },
  { name: "wake-only-fresh-from-zero: five minutes old", demand: demand(NOW - 300 * SECOND), want: undefined },
  { name: "more than a minute ahead", demand: demand(NOW + 61 * SECOND), want: undefined },
  {
    name: "somebody waits at a gateway whose clock is an hour behind",
    demand: demand(NOW - 3_600 * SECOND, true),
    want: { atMs: NOW, stampMs: NOW - 3_600 * SECOND, gateway: "g" },
  },
  {
    name: "from before the engine was last scaled",
    demand: demand(NOW - 20 * SECOND),
    lastScaledMs: NOW - 20 * SECOND,
    want: undefined,
  },
  {
    name: "from before, and somebody waits",
    demand: demand(NOW - 20 * SECOND, true),
    lastScaledMs: NOW - 10 * SECOND,
    want: { atMs: NOW, gateway: "g" },
  },
  {
    name: "a stamp from before has had its engine",
    metadata: stamp(NOW - 20 * SECOND),
    lastScaledMs: NOW - 10 * SECOND,
    want: undefined,
  },
  {
    name: "a stamp of the second in which the engine was scaled",
    metadata: stamp(NOW - 10 * SECOND + 900),
    lastScaledMs: NOW - 10 * SECOND,
    want: undefined,
  },
  {
    name: "a stamp of the second after",
    metadata: stamp(NOW - 9 * SECOND),
    lastScaledMs: NOW - 10 * SECOND,
    want: { atMs: NOW - 9 * SECOND, gateway: undefined },
  },
  {
    name: "a stamp from before the engine came into use",
    metadata: stamp(NOW - 9 * SECOND),
    lastScaledMs: NOW - 10 * SECOND,
    usedMs: NOW - 8 * SECOND,
    want: undefined,
  },
])("$name", ({ metadata, demand: shown, lastScaledMs, usedMs, want }) => {
  const found = newestWakeRequest({ metadata, demand: shown, lastScaledMs, usedMs, nowMs: NOW });
  if (want === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(want);
});
