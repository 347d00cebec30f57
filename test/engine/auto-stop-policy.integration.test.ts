// Auto-stop on a real control plane with the real StatefulSet controller: engines that go quiet are stopped, stamps and windows start
// them, and everything is judged by what the API server stored.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type EngineControlPlane, startEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineLab, openEngineLab } from "./support/engine-harness.ts";

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await startEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

interface Lab extends EngineLab {
  /** Resolves when the engine has been looked at once more, from the beginning. */
  lookedAt(name: string): Promise<unknown>;
}

async function openLab(prefix: string): Promise<Lab> {
  const lab = await openEngineLab(plane, prefix);
  await lab.createInstance();
  const { passes } = await lab.operator();
  const passesOf = (name: string): number => passes.filter(({ engine }) => engine.name === name).length;
  return {
    ...lab,
    async lookedAt(name) {
      // Twice, because a pass may have been under way already: the second one to end has seen all that was written before.
      for (const look of ["1", "2"]) {
        const before = passesOf(name);
        const body = { metadata: { annotations: { "example.com/look": `${before}-${look}` } } };
        await lab.client.patch(FireboltEngine, { namespace: lab.namespace, name }, { type: "merge", body });
        await eventually(() => passesOf(name) > before);
      }
    },
  };
}

const POLICY = { enabled: true, activeReplicas: 2, idleTimeout: "3s", pollInterval: "1s" };
const stamp = (lab: EngineLab, name: string, value: string): Promise<unknown> => {
  const body = { metadata: { annotations: { "firebolt.io/wake-requested": value } } };
  return lab.client.patch(FireboltEngine, { namespace: lab.namespace, name }, { type: "merge", body });
};
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

/** The spec's replicas as they were stored, without repeats. */
const replicasOf = (lab: EngineLab, name: string): readonly number[] =>
  lab.history
    .of("FireboltEngine", name)
    .map(({ object }) => object.spec?.replicas ?? -1)
    .filter((replicas, index, all) => replicas !== all[index - 1]);

describe.concurrent("auto-stop", () => {
  test("idle-for-its-time: quiet for the timeout: replicas 0 with its reason and time; then Stopped", async () => {
    await using lab = await openLab("idle-for-its-time");
    await lab.createEngine("e", { autoStop: POLICY });
    // The next evaluation may come before anybody has looked.
    const idle = await lab.once("e", ({ status }) => status?.autoStopReason === "Idle", "idle");
    expect(idle.spec?.replicas).toBe(0);
    expect(idle.status?.lastScaledAt).toBeDefined();
    const stopped = await lab.until("e", ({ status }) => status?.autoStopReason === "Stopped", "stopped");
    expect(stopped.status).toMatchObject({ phase: "stopped", lastScaledAt: idle.status?.lastScaledAt });
    expect(replicasOf(lab, "e")).toEqual([2, 0]);
    // Not before a full timeout after the entry into stable, by the operator's own clock.
    const stable = lab.history.of("FireboltEngine", "e").find(({ object }) => object.status?.phase === "stable");
    const stableMs = Date.parse(stable?.object.status?.lastReconciled ?? "");
    const scaledMs = Date.parse(idle.status?.lastScaledAt ?? "");
    expect(scaledMs - stableMs).toBeGreaterThanOrEqual(3_000);
    expect(lab.broken()).toEqual([]);
  });

  test("a busy engine, and one that cannot be asked, stay up; the last pod that is busy suffices", async () => {
    await using lab = await openLab("busy");
    const names = ["busy", "broken"];
    for (const name of names) await lab.createEngine(name, { autoStop: { ...POLICY, idleTimeout: "30m" } });
    for (const name of names) await lab.settled(name, 0);
    lab.queries(lab.pods("busy", 0)[1], { suspended: 1 });
    lab.queries(lab.pods("broken", 0)[0], "broken");
    for (const name of names) await lab.edit(name, { autoStop: { idleTimeout: POLICY.idleTimeout } });
    await lab.until("busy", ({ status }) => status?.autoStopReason === "ActivityObserved", "active");
    await lab.until("broken", ({ status }) => status?.autoStopReason === "ScrapeFailed", "failed");
    const since = lab.engine("busy").status?.lastActivityTime;
    await lab.until(
      "busy",
      ({ status }) => Date.parse(status?.lastActivityTime ?? "") > Date.parse(since ?? "") + 6_000,
      "on",
    );
    expect([replicasOf(lab, "busy"), replicasOf(lab, "broken")]).toEqual([[2], [2]]);
    lab.queries(lab.pods("busy", 0)[1], {});
    await lab.until("busy", ({ spec }) => spec?.replicas === 0, "stopped after all");
  });

  test("woken-by-fresh-stamp, stamp-not-fresh: only a fresh stamp wakes", async () => {
    await using lab = await openLab("woken-by-fresh-stamp");
    await lab.createEngine("e", { replicas: 0, autoStop: { ...POLICY, idleTimeout: "30m" } });
    await lab.until("e", ({ status }) => status?.autoStopReason === "Stopped", "stopped");
    for (const value of [ago(360_000), "soon", ago(-3_600_000)]) {
      await stamp(lab, "e", value);
      await lab.lookedAt("e");
      expect(lab.engine("e").spec?.replicas, value).toBe(0);
    }
    await stamp(lab, "e", ago(1_000));
    const woken = await lab.until("e", ({ spec }) => spec?.replicas === 2, "woken");
    expect(woken.metadata?.generation).toBe(2);
    const reason = await lab.once("e", ({ status }) => status?.autoStopReason === "WakeRequested", "told why");
    expect(reason.spec?.replicas).toBe(2);
    const stable = await lab.until("e", ({ status }) => status?.phase === "stable", "stable");
    expect(stable.status).toMatchObject({ activeGeneration: 1 });
    expect(stable.status?.lastScaledAt).toBeDefined();
  });

  test.each([
    { name: "a stop, then a request: it wakes", wakes: true },
    { name: "a request, then a stop: it stays stopped", wakes: false },
  ])("both while the operator was away. $name", async ({ wakes }) => {
    await using lab = await openEngineLab(plane, "unseen");
    await lab.createInstance();
    const before = await lab.operator();
    await lab.createEngine("e", { autoStop: { ...POLICY, idleTimeout: "30m" } });
    await lab.until("e", ({ status }) => status?.autoStopReason === "ActivityObserved", "at rest");
    await before.stop();
    const afterSeconds = (seconds: number): Promise<unknown> => {
      const dueMs = Date.now() + seconds * 1_000;
      return eventually(() => Date.now() > dueMs);
    };
    const stop = (): Promise<unknown> => lab.edit("e", { replicas: 0 });
    const wake = (): Promise<unknown> => stamp(lab, "e", ago(0));
    await (wakes ? stop() : wake());
    await afterSeconds(3);
    await (wakes ? wake() : stop());
    await afterSeconds(3);
    await lab.operator();
    if (wakes) await lab.until("e", ({ spec }) => spec?.replicas === 2, "woken");
    else {
      // The reason follows the phase: the write that ends the stop may still tell why it began.
      await lab.until(
        "e",
        ({ status }) => status?.phase === "stopped" && status.autoStopReason === "Stopped",
        "stopped",
      );
      expect(replicasOf(lab, "e")).toEqual([2, 0]);
    }
  });

  test("stamp-while-auto-stop-off, auto-stop-disabled: switched off, nothing is scaled: Disabled", async () => {
    await using lab = await openLab("stamp-while-auto-stop-off");
    await lab.createEngine("e", { replicas: 0, autoStop: POLICY });
    await lab.until("e", ({ status }) => status?.autoStopReason === "Stopped", "stopped");
    await lab.edit("e", { autoStop: { enabled: false } });
    const off = await lab.until("e", ({ status }) => status?.autoStopReason === "Disabled", "off");
    expect(off.status?.lastActivityTime).toBeUndefined();
    await stamp(lab, "e", ago(0));
    await lab.lookedAt("e");
    expect(lab.engine("e").spec?.replicas).toBe(0);
  });

  test("window-on-weekdays, stamp-while-running: a window that is open starts a stopped engine; a hand-set number stands above a stamp", async () => {
    await using lab = await openLab("window-on-weekdays");
    const now = new Date();
    const hour = (hours: number): string => `${String((now.getUTCHours() + hours + 24) % 24).padStart(2, "0")}:00`;
    await lab.createEngine("w", {
      replicas: 0,
      autoStop: { ...POLICY, schedule: [{ start: hour(-1), end: hour(2) }] },
    });
    await lab.until(
      "w",
      ({ spec, status }) =>
        spec?.replicas === 2 && status?.phase === "stable" && status.autoStopReason === "ScheduleActive",
      "started by its window",
    );
    await lab.createEngine("five", { replicas: 3, autoStop: { ...POLICY, idleTimeout: "30m" } });
    await lab.until("five", ({ status }) => status?.phase === "stable", "stable");
    await stamp(lab, "five", ago(0));
    await lab.lookedAt("five");
    expect(lab.engine("five").spec?.replicas).toBe(3);
  });

  test("one-status-write, no-needless-write: at rest and quiet, polls ask pods and write nothing", async () => {
    await using lab = await openEngineLab(plane, "quiet");
    await lab.createInstance();
    const operator = await lab.operator();
    await lab.createEngine("e", { autoStop: { ...POLICY, idleTimeout: "30m" } });
    await lab.until("e", ({ status }) => status?.autoStopReason === "ActivityObserved", "looked at twice");
    // The event about its readiness is written beside the passes, and once.
    await eventually(() => operator.requests.some(({ resource }) => resource.startsWith("events")));
    await eventually(() => operator.isIdle());
    await eventually(async () => {
      const stored = await lab.client.get(FireboltEngine, { namespace: lab.namespace, name: "e" });
      expect(lab.engine("e").metadata?.resourceVersion).toBe(stored.metadata?.resourceVersion);
    });
    const versions = lab.history.of("FireboltEngine", "e").length;
    const asked = operator.requests.length;
    await eventually(() => operator.requests.length >= asked + 6);
    expect(lab.history.of("FireboltEngine", "e")).toHaveLength(versions);
    const verbs = new Set(operator.requests.slice(asked).map(({ verb, resource }) => `${verb} ${resource}`));
    expect([...verbs]).toEqual(["get pods/proxy"]);
  });
});
