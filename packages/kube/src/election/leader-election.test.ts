import { expect, test } from "vitest";
import { KubeApiError, KubeConnectionError, NotLeaderError } from "../core/errors.ts";
import { silentLogger } from "../core/logger.ts";
import type { EventNote } from "../events/object.ts";
import { silentRuntimeMetrics } from "../metrics/runtime.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { createLeaderElector } from "./leader-election.ts";
import type { Lease } from "./lease.ts";
import type { LeaseStore } from "./lease-store.ts";
import { DEFAULT_ELECTION_TIMING } from "./timing.ts";

/**
 * One shared lease with versions. `down` fails every call; with `hang` calls never return, with `slow` not until it
 * resolves.
 */
class SharedLease implements LeaseStore {
  readonly key = { namespace: "ns", name: "the-lease" };
  lease: Lease | undefined;
  down = false;
  hang = false;
  slow: Promise<void> | undefined;
  writes = 0;
  #version = 0;

  read(): Promise<Lease | undefined> {
    return this.#respond(() => this.lease);
  }

  create(spec: Lease["spec"]): Promise<Lease> {
    return this.#respond(() => {
      if (this.lease !== undefined) throw new KubeApiError("POST lease", 409, { reason: "AlreadyExists" });
      return this.#write({ metadata: { uid: "u1" }, spec: spec ?? {} });
    });
  }

  replace(lease: Lease): Promise<Lease> {
    return this.#respond(() => {
      if (this.lease === undefined) throw new KubeApiError("PUT lease", 404, { reason: "NotFound" });
      if (lease.metadata?.resourceVersion !== this.lease.metadata?.resourceVersion)
        throw new KubeApiError("PUT lease", 409, { reason: "Conflict" });
      return this.#write(lease);
    });
  }

  #write(lease: Lease): Lease {
    this.#version += 1;
    this.writes += 1;
    this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(this.#version) } };
    return this.lease;
  }

  async #respond<T>(act: () => T): Promise<T> {
    if (this.hang) await new Promise<never>(() => undefined);
    await this.slow;
    if (this.down) throw new KubeConnectionError("connection refused");
    return act();
  }
}

function setUp(names: readonly string[] = ["a"]) {
  const clock = new ManualClock();
  const store = new SharedLease();
  const events: EventNote[] = [];
  const status: boolean[] = [];
  const processes = names.map((identity) => {
    const elector = createLeaderElector({
      store,
      timing: DEFAULT_ELECTION_TIMING,
      clock,
      logger: silentLogger,
      metrics: { ...silentRuntimeMetrics, leading: (_lease, leading) => status.push(leading) },
      events: { record: (event) => events.push(event) },
      identity,
      random: () => 0.5,
    });
    const stop = new AbortController();
    const outcome: { error?: unknown; ended: boolean } = { ended: false };
    const running = elector.run(stop.signal).then(
      () => {
        outcome.ended = true;
      },
      (error: unknown) => {
        outcome.error = error;
        outcome.ended = true;
      },
    );
    return { elector, stop, running, outcome };
  });
  const [first, second] = processes;
  if (first === undefined) throw new Error("no process");
  return { clock, store, events, status, first, second: second ?? first };
}

test("the first one leads, renews every retry period, and records an event", async () => {
  const { clock, store, events, status, first } = setUp();
  expect(() => first.elector.assertLeading()).toThrow(NotLeaderError);
  await clock.advance(0);
  expect(first.elector.leading).toBe(true);
  first.elector.assertLeading();
  await clock.advance(10_000);
  expect(store.writes).toBe(6);
  expect(store.lease?.spec).toMatchObject({ holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 0 });
  expect(events).toEqual([
    {
      regarding: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", namespace: "ns", name: "the-lease", uid: "u1" },
      type: "Normal",
      reason: "LeaderElection",
      action: "Acquire",
      note: "a became leader",
    },
  ]);
  expect(status).toEqual([false, true]);
});

test("a standby takes over only when the lease has not changed for its duration", async () => {
  const { clock, store, first, second } = setUp(["a", "b"]);
  await clock.advance(20_000);
  expect(second.elector.leading).toBe(false);
  // "a" disappears right after a renewal, without releasing the lease.
  first.elector.abandon?.();
  first.stop.abort();
  const silentSince = clock.monotonicMs();
  while (!second.elector.leading) await clock.advance(100);
  const tookMs = clock.monotonicMs() - silentSince;
  // b observes the last renewal up to one (jittered) retry period after it was made, and checks once per such period.
  expect(tookMs).toBeGreaterThan(15_000);
  expect(tookMs).toBeLessThan(15_000 + 2 * 2_400);
  expect(store.lease?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
});

test("a clean stop releases the lease, and a standby takes it within one retry period", async () => {
  const { clock, store, first, second } = setUp(["a", "b"]);
  await clock.advance(5_000);
  first.stop.abort();
  await clock.advance(0);
  expect(first.outcome).toEqual({ ended: true });
  expect(store.lease?.spec?.holderIdentity).toBeUndefined();
  expect(() => first.elector.assertLeading()).toThrow(NotLeaderError);
  await clock.advance(2_400);
  expect(second.elector.leading).toBe(true);
});

test("an abandoned stop keeps the lease: work may still be running", async () => {
  const { clock, store, first } = setUp();
  await clock.advance(5_000);
  first.elector.abandon?.();
  first.stop.abort();
  await clock.advance(0);
  expect(first.outcome).toEqual({ ended: true });
  expect(store.lease?.spec?.holderIdentity).toBe("a");
});

test.each([
  { name: "refused connections", cut: { down: true, hang: false } },
  { name: "calls without a response", cut: { down: false, hang: true } },
])("$name for the renew deadline lose the lease", async ({ cut }) => {
  const { clock, store, first, status } = setUp();
  await clock.advance(2_000);
  Object.assign(store, cut);
  await clock.advance(9_999);
  first.elector.assertLeading();
  expect(first.outcome.ended).toBe(false);
  await clock.advance(2);
  expect(() => first.elector.assertLeading()).toThrow(NotLeaderError);
  expect(first.outcome.error).toBeInstanceOf(NotLeaderError);
  expect(status.at(-1)).toBe(false);
});

test("a short outage is survived", async () => {
  const { clock, store, first } = setUp();
  await clock.advance(2_000);
  store.down = true;
  await clock.advance(7_000);
  store.down = false;
  await clock.advance(20_000);
  expect(first.elector.leading).toBe(true);
});

test("a renewal counts from the moment it was sent: others may count from there", async () => {
  const { clock, store, first } = setUp();
  await clock.advance(0);
  const { promise, resolve } = Promise.withResolvers<void>();
  store.slow = promise;
  // Sent after 2 s; the response takes 4 s more. After that nothing is renewed.
  await clock.advance(6_000);
  resolve();
  await clock.advance(0);
  expect(store.writes).toBe(2);
  store.down = true;
  await clock.advance(5_999);
  expect(first.elector.leading).toBe(true);
  await clock.advance(1);
  expect(() => first.elector.assertLeading()).toThrow(NotLeaderError);
  expect(first.outcome.error).toBeInstanceOf(NotLeaderError);
});

test("the fence holds by the clock alone, before any timer has run", async () => {
  const clock = new ManualClock();
  let skippedMs = 0;
  const paused = {
    now: () => clock.now() + skippedMs,
    monotonicMs: () => clock.monotonicMs() + skippedMs,
    after: clock.after.bind(clock),
  };
  const store = new SharedLease();
  const elector = createLeaderElector({
    store,
    timing: DEFAULT_ELECTION_TIMING,
    clock: paused,
    logger: silentLogger,
    metrics: silentRuntimeMetrics,
  });
  const running = elector.run(new AbortController().signal);
  const outcome = expect(running).rejects.toThrow("not renewed in time");
  await clock.advance(1_000);
  elector.assertLeading();
  // The process is paused for 30 s: no timer runs, no promise settles, then the next write is due.
  skippedMs = 30_000;
  expect(() => elector.assertLeading()).toThrow(/last renewed the lease 31000 ms ago/);
  const writes = store.writes;
  await clock.advance(2_000);
  await outcome;
  expect(store.writes).toBe(writes);
});

test("a lease that another process took, or that was deleted, is lost at the next renewal", async () => {
  for (const meddle of [
    (store: SharedLease) => store.replace({ ...store.lease, spec: { holderIdentity: "x", leaseDurationSeconds: 15 } }),
    async (store: SharedLease) => {
      store.lease = undefined;
    },
  ]) {
    const { clock, store, first } = setUp();
    await clock.advance(1_000);
    await meddle(store);
    await clock.advance(1_000);
    expect(first.outcome.error).toBeInstanceOf(NotLeaderError);
  }
});

test("a stop during a renewal that hangs still releases the lease", async () => {
  const { clock, store, first } = setUp();
  await clock.advance(0);
  expect(store.lease?.spec?.holderIdentity).toBe("a");
  store.hang = true;
  await clock.advance(2_000);
  store.hang = false;
  first.stop.abort();
  await clock.advance(0);
  expect(store.lease?.spec?.holderIdentity).toBeUndefined();
});

test("a standby that stops writes nothing", async () => {
  const { clock, store, second } = setUp(["a", "b"]);
  await clock.advance(1_000);
  second.stop.abort();
  await clock.advance(0);
  expect(second.outcome).toEqual({ ended: true });
  expect(store.lease?.spec?.holderIdentity).toBe("a");
});

test("waiting for the lease ends with its signal", async () => {
  const { clock, second } = setUp(["a", "b"]);
  await clock.advance(0);
  const stop = new AbortController();
  const waiting = second.elector.whenLeading(stop.signal);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("invalid durations are rejected", () => {
  const store = new SharedLease();
  const timing = { leaseMs: 10_000, renewDeadlineMs: 12_000, retryMs: 2_000 };
  const rest = { clock: new ManualClock(), logger: silentLogger, metrics: silentRuntimeMetrics };
  expect(() => createLeaderElector({ store, timing, ...rest })).toThrow("--leader-election-lease-duration (10s)");
});
