// Whole passes of the reconciler with auto-stop, over an engine in memory and a clock that the test moves.
import { KubeApiError } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import {
  FakeTimedCluster,
  MINUTE,
  POLICY,
  pageOf,
  resting,
  text,
} from "../../../test/engine/support/fake-timed-cluster.ts";
import { engine, engineClass, instance, NOW_MS } from "../../../test/engine/support/fixtures.ts";
import { Evaluations } from "./evaluations.ts";

test("off: Disabled, no clock, no scrape", async () => {
  const world = new FakeTimedCluster();
  world.put("FireboltInstance", instance());
  world.put("FireboltEngine", engine({ metadata: { finalizers: [] } }));
  await world.rest();
  expect(world.status).toMatchObject({ autoStopReason: "Disabled", phase: "stable" });
  expect(world.status?.lastActivityTime).toBeUndefined();
  expect(world.requests.filter((request) => request.startsWith("scrape"))).toEqual([]);
});

test("auto-stop-just-enabled, no-needless-write: a quiet engine is first observed; nothing is written again while it stays quiet", async () => {
  const world = await resting();
  expect(world.status).toMatchObject({ autoStopReason: "ActivityObserved", lastActivityTime: text(NOW_MS) });
  world.nowMs += MINUTE;
  expect(await world.pass()).toEqual({ afterMs: MINUTE });
  expect(world.taken().filter((request) => /^(status|replicas)/.test(request))).toEqual([]);
});

test("idle-for-its-time, one-status-write: quiet for the timeout: one spec write, then the one status write; then Stopped", async () => {
  const world = await resting();
  world.nowMs += 30 * MINUTE;
  expect(await world.pass()).toBe("requeue");
  const writes = world.taken().filter((request) => /^(status|replicas)/.test(request));
  expect(writes).toEqual(["replicas FireboltEngine e", "status FireboltEngine e"]);
  expect(world.status).toMatchObject({ autoStopReason: "Idle", lastScaledAt: text(world.nowMs) });
  expect(world.replicas).toBe(0);
  expect(world.scaled).toEqual(["down Idle"]);
  expect(world.events).toContain("AutoStopScaled");
  await world.rest();
  await world.rest();
  expect(world.status).toMatchObject({ phase: "stopped", autoStopReason: "Stopped" });
});

test("scrapes-fail-for-hours: failing scrapes count as activity, and start a full timeout", async () => {
  const world = await resting();
  world.metrics = () => ({ status: 500, body: "" });
  world.nowMs += 120 * MINUTE;
  await world.pass();
  expect(world.status).toMatchObject({ autoStopReason: "ScrapeFailed", lastActivityTime: text(world.nowMs) });
  world.metrics = () => ({ status: 200, body: pageOf(0) });
  world.nowMs += 29 * MINUTE;
  await world.rest();
  expect(world.replicas).toBe(2);
  world.nowMs += MINUTE;
  await world.pass();
  expect(world.replicas).toBe(0);
});

test("woken-by-fresh-stamp, woken-for-short-query: a fresh stamp starts a stopped engine, which then has a full timeout from the entry into stable", async () => {
  const world = await resting({}, 0);
  expect(world.status).toMatchObject({ phase: "stopped", autoStopReason: "Stopped" });
  world.nowMs += 99 * MINUTE;
  world.stamp(world.nowMs - 1_000);
  await world.pass();
  expect(world.replicas).toBe(2);
  expect(world.status).toMatchObject({ autoStopReason: "WakeRequested", lastScaledAt: text(world.nowMs) });
  expect(world.events).toEqual(expect.arrayContaining(["WakeRequested", "AutoStopScaled"]));
  world.nowMs += 20 * MINUTE;
  await world.rest();
  const stableMs = world.nowMs;
  expect(world.status).toMatchObject({ phase: "stable", lastActivityTime: text(stableMs) });
  world.nowMs = stableMs + 30 * MINUTE - 1_000;
  await world.rest();
  expect(world.replicas).toBe(2);
  world.nowMs = stableMs + 30 * MINUTE;
  await world.pass();
  expect(world.replicas).toBe(0);
});

test("idle-or-woken-mid-rollout: nothing is decided during a rollout", async () => {
  const world = await resting();
  world.edit({ replicas: 3 });
  world.nowMs += 60 * MINUTE;
  world.stamp(world.nowMs);
  for (let count = 0; count < 3; count++) {
    await world.pass();
    expect(world.status?.phase).toBe("creating");
  }
  expect(world.taken().filter((request) => request.startsWith("replicas"))).toEqual([]);
});

test("auto-stop-disabled: switched off: Disabled, the clock is cleared, the audit stamp and the replicas stay", async () => {
  const world = await resting();
  world.nowMs += 30 * MINUTE;
  await world.rest();
  await world.rest();
  const { lastScaledAt } = world.status ?? {};
  expect(lastScaledAt).toBeDefined();
  world.edit({ autoStop: { ...POLICY, enabled: false } });
  world.stamp(world.nowMs);
  await world.pass();
  expect(world.status).toMatchObject({ autoStopReason: "Disabled", lastScaledAt });
  expect(world.status?.lastActivityTime).toBeUndefined();
  expect(world.replicas).toBe(0);
});

test("the class's policy counts for an engine without one, as a whole", async () => {
  const world = new FakeTimedCluster();
  world.put("FireboltInstance", instance());
  world.put("FireboltEngineClass", engineClass({ spec: { template: {}, storage: {}, autoStop: POLICY } }));
  world.put("FireboltEngine", engine({ metadata: { finalizers: [] }, spec: { engineClassRef: "c" } }));
  await world.rest();
  await world.rest();
  expect(world.status?.autoStopReason).toBe("ActivityObserved");
  // Gone: the policy is unknown, so nothing is reported about it.
  world.drop("FireboltEngineClass", "c");
  await world.pass();
  expect(world.status).toMatchObject({ autoStopReason: "ActivityObserved", lastActivityTime: text(NOW_MS) });
});

test("replicas-patch-is-bound: a rejected write is a failed pass that changes nothing; the next pass decides afresh", async () => {
  const world = await resting();
  world.nowMs += 30 * MINUTE;
  const before = structuredClone(world.status);
  world.patchReplicas = () => Promise.resolve({ type: "refused", because: new Error("a webhook says no") } as const);
  await expect(world.pass()).rejects.toThrow("a webhook says no");
  expect(world.status).toEqual(before);
  Reflect.deleteProperty(world, "patchReplicas");
  await world.pass();
  expect(world.replicas).toBe(0);
});

test("after-replicas-patch: dying between the spec and the status loses nothing but the exact time", async () => {
  const world = await resting();
  world.nowMs += 30 * MINUTE;
  world.intercept = (request) => {
    if (request.startsWith("status")) throw new Error("the process died");
  };
  await expect(world.pass()).rejects.toThrow("died");
  world.intercept = () => undefined;
  expect(world.replicas).toBe(0);
  await world.rest();
  await world.rest();
  expect(world.status).toMatchObject({ phase: "stopped", autoStopReason: "Stopped" });
  expect(world.status?.lastScaledAt).toBe(text(world.nowMs - 1_000));
});

test("the engine is requeued for the end of the idle time, if the poll is later", async () => {
  const world = await resting({ idleTimeout: "70s", pollInterval: "10m" });
  world.nowMs += 60_000;
  expect(await world.pass()).toEqual({ afterMs: 10_000 });
  const impatient = await resting({ pollInterval: "1ms" });
  expect(await impatient.pass()).toEqual({ afterMs: 1_000 });
});

test("woken-by-fresh-stamp: by demand, what a gateway shows wakes the engine as a stamp would, and the event names the pod", async () => {
  const world = await resting({}, 0);
  const notes: string[] = [];
  world.note = (reason, note) => void notes.push(`${reason}: ${note}`);
  world.wakeDemand = () => ({ stampMs: world.nowMs - 3_000, isWaitedFor: true, gateway: "main-gateway-x" });
  await world.pass();
  expect(world.replicas).toBe(2);
  expect(world.status).toMatchObject({ autoStopReason: "WakeRequested", lastScaledAt: text(world.nowMs) });
  expect(notes).toEqual([
    "WakeRequested: Demand reported by gateway pod main-gateway-x, 3 s old",
    "AutoStopScaled: From 0 to 2 replicas: WakeRequested",
  ]);
});

test("stamp-while-running, stamp-while-auto-stop-off: by demand, neither a running engine nor one without auto-stop is changed", async () => {
  const running = await resting({}, 5);
  running.wakeDemand = () => ({ stampMs: running.nowMs, isWaitedFor: true, gateway: "g" });
  await running.pass();
  expect(running.replicas).toBe(5);
  const off = await resting({ enabled: false }, 0);
  off.wakeDemand = () => ({ stampMs: off.nowMs, isWaitedFor: true, gateway: "g" });
  await off.pass();
  expect([off.replicas, off.status?.autoStopReason]).toEqual([0, "Disabled"]);
});

test("demand that an engine was woken for does not wake it again after it has idled out", async () => {
  const world = await resting({ idleTimeout: "1m" }, 0);
  const demand = { stampMs: world.nowMs, isWaitedFor: false, gateway: "g" };
  world.wakeDemand = () => (world.replicas === 0 ? demand : undefined);
  world.nowMs += 1_000;
  await world.rest();
  expect(world.replicas).toBe(2);
  // The agent shows it for ten minutes; it would be fresh for five.
  for (let second = 0; second < 100; second += 10) {
    world.nowMs += 10_000;
    await world.rest();
  }
  expect([world.replicas, world.status?.autoStopReason]).toEqual([0, "Stopped"]);
  demand.stampMs = world.nowMs;
  await world.rest();
  expect(world.replicas).toBe(2);
});

test("an engine that was not observed for longer than its idle time gets a full one before it is stopped", async () => {
  const world = await resting();
  const evaluations = new Evaluations();
  Object.assign(world, { evaluations });
  await world.pass();
  // The operator, or the API server, is away for an hour; queries may have run meanwhile.
  world.nowMs += 60 * MINUTE;
  await world.pass();
  expect(world.replicas).toBe(2);
  for (let minutes = 0; minutes < 29; minutes++) {
    world.nowMs += MINUTE;
    await world.pass();
  }
  expect(world.replicas).toBe(2);
  for (let minutes = 0; minutes < 2; minutes++) {
    world.nowMs += MINUTE;
    await world.pass();
  }
  expect(world.replicas).toBe(0);
});

test("the request that woke an engine does not keep it up past its idle time", async () => {
  const world = await resting({ idleTimeout: "30s", pollInterval: "5s" }, 0);
  world.nowMs += MINUTE;
  world.stamp(world.nowMs);
  await world.rest();
  expect(world.replicas).toBe(2);
  for (let seconds = 0; seconds < 40; seconds += 5) {
    world.nowMs += 5_000;
    await world.rest();
  }
  expect([world.replicas, world.status?.phase, world.status?.autoStopReason]).toEqual([0, "stopped", "Stopped"]);
});

test.each([
  ["by which it was woken", 0, 0],
  ["of a gateway that had not seen yet that the engine starts", 0, 2_000],
  ["of a gateway whose clock is ahead", 30_000, 30_000],
])("a stop by a person stands: an earlier request does not undo it (a request %s)", async (_, firstMs, lastMs) => {
  const world = await resting({}, 0);
  world.nowMs += MINUTE;
  const wokenMs = world.nowMs;
  world.stamp(wokenMs + firstMs);
  await world.pass();
  expect(world.replicas).toBe(2);
  world.stamp(wokenMs + lastMs);
  world.nowMs = wokenMs + 20_000;
  await world.rest();
  world.edit({ replicas: 0 });
  await world.rest();
  for (let seconds = 0; seconds < 60; seconds += 5) {
    world.nowMs += 5_000;
    await world.rest();
    expect([world.replicas, world.status?.autoStopReason]).toEqual([0, "Stopped"]);
  }
  // And a query from then on wakes it.
  world.stamp(world.nowMs);
  await world.rest();
  expect(world.replicas).toBe(2);
});

test.each([0.9, 3, 60])(
  "a leader whose clock was %d min ahead stopped the engine; a query still wakes it",
  async (minutes) => {
    const world = await resting();
    world.nowMs += (30 + minutes) * MINUTE;
    await world.rest();
    await world.rest();
    expect(world.status).toMatchObject({ phase: "stopped", autoStopReason: "Stopped" });
    // The next leader has the right time. Earlier requests still do not count.
    world.nowMs -= minutes * MINUTE;
    world.stamp(world.nowMs);
    await world.rest();
    expect(world.replicas).toBe(0);
    const scaledMs = Date.parse(world.status?.lastScaledAt ?? "");
    expect(scaledMs - world.nowMs).toBeLessThan(60_000);
    world.nowMs += 5_000;
    world.stamp(Math.max(world.nowMs, scaledMs + 1_000));
    await world.rest();
    expect(world.replicas).toBe(2);
  },
);

test("a stop by a person stands: the engine was started by a person, and requested while it started", async () => {
  const world = await resting({}, 0);
  world.nowMs += 10 * MINUTE;
  await world.rest();
  world.edit({ replicas: 2 });
  await world.pass();
  world.nowMs += 5_000;
  world.stamp(world.nowMs);
  await world.pass();
  world.nowMs += 20_000;
  world.edit({ replicas: 0 });
  await staysStopped(world);
});

test("a stop by a person stands: the operator died after it had woken the engine, before it could store that", async () => {
  const world = await resting({}, 0);
  world.nowMs += 10 * MINUTE;
  world.stamp(world.nowMs);
  world.intercept = (request) => {
    if (request.startsWith("status")) throw new Error("died");
  };
  await expect(world.pass()).rejects.toThrow("died");
  world.intercept = () => undefined;
  world.nowMs += 2_000;
  await world.pass();
  await world.pass();
  world.nowMs += 20_000;
  world.edit({ replicas: 0 });
  await staysStopped(world);
});

test("a stop by a person stands: auto-stop had left one replica, and the engine was requested", async () => {
  const world = await resting({ idleReplicas: 1 });
  world.nowMs += 30 * MINUTE;
  await world.pass();
  world.nowMs += 3_000;
  world.stamp(world.nowMs);
  world.nowMs += 3_000;
  world.edit({ replicas: 0 });
  await staysStopped(world);
});

async function staysStopped(world: FakeTimedCluster): Promise<void> {
  for (let count = 0; count < 8; count++) {
    world.nowMs += 5_000;
    await world.rest();
    expect(world.replicas).toBe(0);
  }
  expect(world.status).toMatchObject({ phase: "stopped", autoStopReason: "Stopped" });
  world.stamp(world.nowMs);
  await world.rest();
  expect(world.replicas).toBeGreaterThan(0);
}

test("a stop by a person that was observed late, because the operator was down, stands too", async () => {
  const world = await resting({}, 0);
  world.stamp(world.nowMs);
  await world.rest();
  world.nowMs += 10_000;
  world.edit({ replicas: 0 });
  world.nowMs += 2 * MINUTE;
  await world.rest();
  await world.rest();
  expect([world.replicas, world.status?.phase]).toEqual([0, "stopped"]);
});

describe("a stop and a wake request that the operator sees at once: the later one counts", () => {
  const SECONDS = 1_000;
  const spec = { "f:spec": { "f:replicas": {} } };
  const stamp = { "f:metadata": { "f:annotations": { "f:firebolt.io/wake-requested": {} } } };

  /** As the API server stores who changed what: the stop and the stamp at their times, by these managers. */
  const unseen = async (stopMs: number, stampMs: number, sameManager = false) => {
    const world = await resting();
    world.nowMs += MINUTE;
    const base = world.nowMs;
    world.edit({ replicas: 0 });
    world.stamp(base + stampMs);
    const stored = world.get("FireboltEngine", "e");
    const at = (ms: number): string => text(base + ms);
    const managedFields = sameManager
      ? [{ manager: "kubectl-firebolt", time: at(Math.max(stopMs, stampMs)), fieldsV1: { ...spec, ...stamp } }]
      : [
          { manager: "kubectl-patch", time: at(stopMs), fieldsV1: spec },
          { manager: "firebolt-gateway", time: at(stampMs), fieldsV1: stamp },
        ];
    world.put("FireboltEngine", { ...stored, metadata: { ...stored?.metadata, managedFields } });
    world.nowMs = base + 20 * SECONDS;
    world.taken();
    await world.rest();
    await world.rest();
    return world;
  };

  test.each([
    { name: "stopped, then asked for by a query", stop: 2, wake: 8, same: false, replicas: 2 },
    { name: "stopped, then woken by the same hand", stop: 2, wake: 8, same: true, replicas: 2 },
    { name: "asked for by a query, then stopped", stop: 8, wake: 2, same: false, replicas: 0 },
    { name: "woken, then stopped by the same hand", stop: 8, wake: 2, same: true, replicas: 0 },
  ])("$name", async ({ stop, wake, same, replicas }) => {
    const world = await unseen(stop * SECONDS, wake * SECONDS, same);
    expect(world.replicas).toBe(replicas);
    expect(world.taken().filter((request) => request === "get FireboltEngine e")).toHaveLength(1);
  });

  test("the API server is read only where the order matters", async () => {
    const world = await resting();
    world.nowMs += MINUTE;
    world.taken();
    world.edit({ replicas: 0 });
    await world.pass();
    expect(world.taken().filter((request) => request === "get FireboltEngine e")).toEqual([]);
  });
});

test("a query that meets a stop wakes the engine: its stamp is newer than the scaling", async () => {
  const world = await resting({ idleTimeout: "30s", pollInterval: "5s" }, 0);
  world.stamp(world.nowMs);
  await world.rest();
  world.nowMs += 31_000;
  await world.pass();
  expect([world.replicas, world.status?.lastScaledAt]).toEqual([0, text(world.nowMs)]);
  // What the agent writes: the second after the scaling, although it is still the same second.
  world.stamp(world.nowMs + 1_000);
  await world.rest();
  expect(world.replicas).toBe(2);
});

test.each(["", "yes", "2026-01-01", "1767268800", "9999-12-31T00:00:00Z"])(
  "a wake request of %j neither wakes nor keeps up nor hides the next one",
  async (garbage) => {
    const world = await resting({}, 0);
    world.stamp(garbage);
    world.nowMs += MINUTE;
    await world.rest();
    expect([world.replicas, world.status?.autoStopReason]).toEqual([0, "Stopped"]);
    world.stamp(world.nowMs);
    await world.rest();
    expect(world.replicas).toBe(2);
  },
);

test("pods that cannot be probed: Ready and one event name pod, cause and remedy, until they can", async () => {
  const world = await resting();
  const notes: string[] = [];
  world.note = (reason, note) => void notes.push(`${reason}: ${note}`);
  world.metrics = () => {
    throw new KubeApiError("GET pods/proxy", 403, { reason: "Forbidden", message: "cannot get resource pods/proxy" });
  };
  for (let minutes = 0; minutes < 3; minutes++) {
    world.nowMs += MINUTE;
    await world.pass();
  }
  const cause = "pod e-g0-0: GET pods/proxy: 403 Forbidden: cannot get resource pods/proxy";
  expect(world.ready).toMatchObject({
    status: "True",
    message: expect.stringContaining(
      `so the engine keeps running: ${cause}; next: allow the operator to get pods/proxy`,
    ),
  });
  expect(notes).toEqual([
    expect.stringContaining(`AutoStopScrapeFailed: Auto-stop cannot determine whether queries run: ${cause}`),
  ]);
  world.metrics = () => ({ status: 200, body: pageOf(0) });
  world.nowMs += MINUTE;
  await world.pass();
  expect([world.ready?.message, world.status?.autoStopReason]).toEqual(["Generation 0 is serving", "ActivityObserved"]);
});
