// Auto-stop on a real control plane with the real StatefulSet controller: engines that go quiet are stopped, stamps and windows start
// them, and everything is judged by what the API server stored.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type EngineControlPlane, openEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineHarness, openEngineHarness } from "./support/engine-harness.ts";

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await openEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

interface Harness extends EngineHarness {
  /** Resolves after one more complete pass of the engine. */
  lookedAt(name: string): Promise<unknown>;
}

async function openHarness(prefix: string): Promise<Harness> {
  const harness = await openEngineHarness(plane, prefix);
  await harness.createInstance();
  const { passes } = await harness.operator();
  const passesOf = (name: string): number => passes.filter(({ engine }) => engine.name === name).length;
  return {
    ...harness,
    async lookedAt(name) {
      // Twice, because a pass may have been under way already: the second one to end has seen all that was written before.
      for (const look of ["1", "2"]) {
        const before = passesOf(name);
        const body = { metadata: { annotations: { "example.com/look": `${before}-${look}` } } };
        await harness.client.patch(FireboltEngine, { namespace: harness.namespace, name }, { type: "merge", body });
        await eventually(() => passesOf(name) > before);
      }
    },
  };
}

const POLICY = { enabled: true, activeReplicas: 2, idleTimeout: "3s", pollInterval: "1s" };
const stamp = (harness: EngineHarness, name: string, value: string): Promise<unknown> => {
  const body = { metadata: { annotations: { "firebolt.io/wake-requested": value } } };
  return harness.client.patch(FireboltEngine, { namespace: harness.namespace, name }, { type: "merge", body });
};
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

/** The spec's replicas as they were stored, without repeats. */
const replicasOf = (harness: EngineHarness, name: string): readonly number[] =>
  harness.history
    .of("FireboltEngine", name)
    .map(({ object }) => object.spec?.replicas ?? -1)
    .filter((replicas, index, all) => replicas !== all[index - 1]);

describe.concurrent("auto-stop", () => {
  test("idle-for-its-time: quiet for the timeout: replicas 0 with its reason and time; then Stopped", async () => {
    await using harness = await openHarness("idle-for-its-time");
    await harness.createEngine("e", { autoStop: POLICY });
    // The next evaluation may come before the test reads the status.
    const idle = await harness.once("e", ({ status }) => status?.autoStopReason === "Idle", "idle");
    expect(idle.spec?.replicas).toBe(0);
    expect(idle.status?.lastScaledAt).toBeDefined();
    const stopped = await harness.until("e", ({ status }) => status?.autoStopReason === "Stopped", "stopped");
    expect(stopped.status).toMatchObject({ phase: "stopped", lastScaledAt: idle.status?.lastScaledAt });
    expect(replicasOf(harness, "e")).toEqual([2, 0]);
    // Not before a full timeout after the entry into stable, by the operator's own clock.
    const stable = harness.history.of("FireboltEngine", "e").find(({ object }) => object.status?.phase === "stable");
    const stableMs = Date.parse(stable?.object.status?.lastReconciled ?? "");
    const scaledMs = Date.parse(idle.status?.lastScaledAt ?? "");
    expect(scaledMs - stableMs).toBeGreaterThanOrEqual(3_000);
    expect(harness.broken()).toEqual([]);
  });

  test("a busy engine, and one that cannot be scraped, keep running; one busy pod is enough", async () => {
    await using harness = await openHarness("busy");
    const names = ["busy", "broken"];
    for (const name of names) await harness.createEngine(name, { autoStop: { ...POLICY, idleTimeout: "30m" } });
    for (const name of names) await harness.settled(name, 0);
    harness.queries(harness.pods("busy", 0)[1], { suspended: 1 });
    harness.queries(harness.pods("broken", 0)[0], "broken");
    for (const name of names) await harness.edit(name, { autoStop: { idleTimeout: POLICY.idleTimeout } });
    await harness.until("busy", ({ status }) => status?.autoStopReason === "ActivityObserved", "active");
    await harness.until("broken", ({ status }) => status?.autoStopReason === "ScrapeFailed", "failed");
    const since = harness.engine("busy").status?.lastActivityTime;
    await harness.until(
      "busy",
      ({ status }) => Date.parse(status?.lastActivityTime ?? "") > Date.parse(since ?? "") + 6_000,
      "on",
    );
    expect([replicasOf(harness, "busy"), replicasOf(harness, "broken")]).toEqual([[2], [2]]);
    harness.queries(harness.pods("busy", 0)[1], {});
    await harness.until("busy", ({ spec }) => spec?.replicas === 0, "stopped after all");
  });

  test("woken-by-fresh-stamp, stamp-not-fresh: only a fresh stamp wakes", async () => {
    await using harness = await openHarness("woken-by-fresh-stamp");
    await harness.createEngine("e", { replicas: 0, autoStop: { ...POLICY, idleTimeout: "30m" } });
    await harness.until("e", ({ status }) => status?.autoStopReason === "Stopped", "stopped");
    for (const value of [ago(360_000), "soon", ago(-3_600_000)]) {
      await stamp(harness, "e", value);
      await harness.lookedAt("e");
      expect(harness.engine("e").spec?.replicas, value).toBe(0);
    }
    await stamp(harness, "e", ago(1_000));
    const woken = await harness.until("e", ({ spec }) => spec?.replicas === 2, "woken");
    expect(woken.metadata?.generation).toBe(2);
    const reason = await harness.once(
      "e",
      ({ status }) => status?.autoStopReason === "WakeRequested",
      "has the reason",
    );
    expect(reason.spec?.replicas).toBe(2);
    const stable = await harness.until("e", ({ status }) => status?.phase === "stable", "stable");
    expect(stable.status).toMatchObject({ activeGeneration: 1 });
    expect(stable.status?.lastScaledAt).toBeDefined();
  });

  test.each([
    { name: "a stop, then a request: it wakes", wakes: true },
    { name: "a request, then a stop: it stays stopped", wakes: false },
  ])("both while the operator was away. $name", async ({ wakes }) => {
    await using harness = await openEngineHarness(plane, "unseen");
    await harness.createInstance();
    const before = await harness.operator();
    await harness.createEngine("e", { autoStop: { ...POLICY, idleTimeout: "30m" } });
    await harness.until("e", ({ status }) => status?.autoStopReason === "ActivityObserved", "at rest");
    await before.stop();
    const afterSeconds = (seconds: number): Promise<unknown> => {
      const dueMs = Date.now() + seconds * 1_000;
      return eventually(() => Date.now() > dueMs);
    };
    const stop = (): Promise<unknown> => harness.edit("e", { replicas: 0 });
    const wake = (): Promise<unknown> => stamp(harness, "e", ago(0));
    await (wakes ? stop() : wake());
    await afterSeconds(3);
    await (wakes ? wake() : stop());
    await afterSeconds(3);
    await harness.operator();
    if (wakes) await harness.until("e", ({ spec }) => spec?.replicas === 2, "woken");
    else {
      // The reason follows the phase: the write that completes the stop may still have the earlier reason.
      await harness.until(
        "e",
        ({ status }) => status?.phase === "stopped" && status.autoStopReason === "Stopped",
        "stopped",
      );
      expect(replicasOf(harness, "e")).toEqual([2, 0]);
    }
  });

  test("stamp-while-auto-stop-off, auto-stop-disabled: switched off, nothing is scaled: Disabled", async () => {
    await using harness = await openHarness("stamp-while-auto-stop-off");
    await harness.createEngine("e", { replicas: 0, autoStop: POLICY });
    await harness.until("e", ({ status }) => status?.autoStopReason === "Stopped", "stopped");
    await harness.edit("e", { autoStop: { enabled: false } });
    const off = await harness.until("e", ({ status }) => status?.autoStopReason === "Disabled", "off");
    expect(off.status?.lastActivityTime).toBeUndefined();
    await stamp(harness, "e", ago(0));
    await harness.lookedAt("e");
    expect(harness.engine("e").spec?.replicas).toBe(0);
  });

  test("window-on-weekdays, stamp-while-running, hand-set-replicas-stand: a window that is open starts a stopped engine; a hand-set number stands above a stamp", async () => {
    await using harness = await openHarness("window-on-weekdays");
    const now = new Date();
    const hour = (hours: number): string => `${String((now.getUTCHours() + hours + 24) % 24).padStart(2, "0")}:00`;
    await harness.createEngine("w", {
      replicas: 0,
      autoStop: { ...POLICY, schedule: [{ start: hour(-1), end: hour(2) }] },
    });
    await harness.until(
      "w",
      ({ spec, status }) =>
        spec?.replicas === 2 && status?.phase === "stable" && status.autoStopReason === "ScheduleActive",
      "started by its window",
    );
    await harness.createEngine("five", { replicas: 3, autoStop: { ...POLICY, idleTimeout: "30m" } });
    await harness.until("five", ({ status }) => status?.phase === "stable", "stable");
    await stamp(harness, "five", ago(0));
    await harness.lookedAt("five");
    expect(harness.engine("five").spec?.replicas).toBe(3);
  });

  test("one-status-write, no-needless-write: at rest and idle, polls scrape pods and write nothing", async () => {
    await using harness = await openEngineHarness(plane, "quiet");
    await harness.createInstance();
    const operator = await harness.operator();
    await harness.createEngine("e", { autoStop: { ...POLICY, idleTimeout: "30m" } });
    await harness.until("e", ({ status }) => status?.autoStopReason === "ActivityObserved", "reconciled twice");
    // The event about its readiness is written beside the passes, and once.
    await eventually(() => operator.requests.some(({ resource }) => resource.startsWith("events")));
    await eventually(() => operator.isIdle());
    await eventually(async () => {
      const stored = await harness.client.get(FireboltEngine, { namespace: harness.namespace, name: "e" });
      expect(harness.engine("e").metadata?.resourceVersion).toBe(stored.metadata?.resourceVersion);
    });
    const versions = harness.history.of("FireboltEngine", "e").length;
    const asked = operator.requests.length;
    await eventually(() => operator.requests.length >= asked + 6);
    expect(harness.history.of("FireboltEngine", "e")).toHaveLength(versions);
    const verbs = new Set(operator.requests.slice(asked).map(({ verb, resource }) => `${verb} ${resource}`));
    expect([...verbs]).toEqual(["get pods/proxy"]);
  });
});
