import { expect, test } from "vitest";
import { microTime } from "../core/micro-time.ts";
import { type Claim, firstClaim, isHeldByOther, type Lease, nextClaim, observeLease, releasedSpec } from "./lease.ts";
import { validateElectionTiming } from "./timing.ts";

const nowMs = Date.UTC(2026, 0, 1);
const claim: Claim = { identity: "me", leaseMs: 15_000, nowMs };
const lease = (spec: Lease["spec"], resourceVersion = "1"): Lease => ({
  metadata: { resourceVersion },
  spec: spec ?? {},
});

test.each([
  {
    name: "a fresh lease of another process",
    spec: { holderIdentity: "other", leaseDurationSeconds: 15 },
    unchangedMs: 0,
    want: true,
  },
  {
    name: "one exactly at its expiry",
    spec: { holderIdentity: "other", leaseDurationSeconds: 15 },
    unchangedMs: 15_000,
    want: true,
  },
  {
    name: "one past its expiry",
    spec: { holderIdentity: "other", leaseDurationSeconds: 15 },
    unchangedMs: 15_001,
    want: false,
  },
  {
    name: "one with a longer duration",
    spec: { holderIdentity: "other", leaseDurationSeconds: 60 },
    unchangedMs: 20_000,
    want: true,
  },
  { name: "one without a duration", spec: { holderIdentity: "other" }, unchangedMs: 14_000, want: true },
  { name: "a released lease", spec: { leaseDurationSeconds: 15 }, unchangedMs: 0, want: false },
  {
    name: "one with an empty holder",
    spec: { holderIdentity: "", leaseDurationSeconds: 15 },
    unchangedMs: 0,
    want: false,
  },
  { name: "our own", spec: { holderIdentity: "me", leaseDurationSeconds: 15 }, unchangedMs: 0, want: false },
])("held by another: $name is $want", ({ spec, unchangedMs, want }) => {
  expect(isHeldByOther(lease(spec), claim, unchangedMs)).toBe(want);
});

test("only the time of the observed change counts, not the renewTime of the holder", () => {
  const first = observeLease(
    undefined,
    lease({ holderIdentity: "other", renewTime: microTime(nowMs - 3_600_000) }),
    100,
  );
  expect(first.sinceMs).toBe(100);
  expect(observeLease(first, lease({}), 900)).toBe(first);
  expect(observeLease(first, lease({}, "2"), 900).sinceMs).toBe(900);
});

test("the first claim, a renewal, a takeover and a release", () => {
  const first = firstClaim(claim);
  expect(first).toEqual({
    holderIdentity: "me",
    leaseDurationSeconds: 15,
    acquireTime: "2026-01-01T00:00:00.000000Z",
    renewTime: "2026-01-01T00:00:00.000000Z",
    leaseTransitions: 0,
  });
  const renewed = nextClaim(lease(first), { ...claim, nowMs: nowMs + 2000 });
  expect(renewed).toEqual({ ...first, renewTime: "2026-01-01T00:00:02.000000Z" });
  const taken = nextClaim(lease(renewed), { ...claim, identity: "you", nowMs: nowMs + 30_000 });
  expect(taken).toMatchObject({
    holderIdentity: "you",
    acquireTime: "2026-01-01T00:00:30.000000Z",
    leaseTransitions: 1,
  });
  const released = releasedSpec(lease(taken), nowMs);
  expect(released).not.toHaveProperty("holderIdentity");
  expect(released).toMatchObject({ leaseTransitions: 1, leaseDurationSeconds: 1 });
});

test("micro times have six decimals", () => {
  expect(microTime(nowMs + 1.2345)).toBe("2026-01-01T00:00:00.001234Z");
});

test.each([
  { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000, want: [] },
  {
    leaseMs: 10_000,
    renewDeadlineMs: 10_000,
    retryMs: 2_000,
    want: ["--leader-election-lease-duration (10s) must be longer than --leader-election-renew-deadline (10s)"],
  },
  {
    leaseMs: 15_000,
    renewDeadlineMs: 10_000,
    retryMs: 9_000,
    want: ["--leader-election-renew-deadline (10s) must be longer than 1.2 times --leader-election-retry-period (9s)"],
  },
  {
    leaseMs: Number.NaN,
    renewDeadlineMs: 10_000,
    retryMs: 2_000,
    want: [expect.stringContaining("at least 1s"), expect.anything()],
  },
])("durations $leaseMs/$renewDeadlineMs/$retryMs", ({ want, ...timing }) => {
  expect(validateElectionTiming(timing)).toEqual(want);
});
