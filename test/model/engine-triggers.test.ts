// Whatever changes what a pass decides by enqueues the engine: for every step of the model that gives a quiet engine
// something to do, a cache event of that step maps to the engine, or, where no cache can show the step, the last pass
// requeued the engine soon enough. If a pass leaves work, it requeues the engine or its own writes enqueue it.
import { isDeepStrictEqual } from "node:util";
import type { NextCheck } from "@firebolt-operator/kube/controller";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine/model/children.ts";
import { isWrite } from "./engine/calls.ts";
import { canonicalKey } from "./engine/canonical.ts";
import { Violation } from "./engine/checks.ts";
import type { Cluster } from "./engine/cluster.ts";
import { explorationOf, type ProfileName } from "./engine/profiles.ts";
import { describePass, type PassRecord, runPass } from "./engine/run-pass.ts";
import { type Menu, NO_DISTURBANCE, type Successor, visitSuccessors } from "./engine/successors.ts";
import type { System } from "./engine/system.ts";
import { TriggerFeed } from "./engine/trigger-feed.ts";

/** The longest that anything which no cache shows may wait: the poll of auto-stop. */
const LONGEST_POLL_MS = 5 * 60_000;
/** Of a pass that waits for something, by the pace of a drain and of a closed gate. */
const SOON_MS = 10_000;

class TriggerExploration {
  readonly #feed = new TriggerFeed();
  readonly #passes = new Map<string, PassRecord>();
  readonly #known = new Set<string>();
  readonly #queue: { readonly system: System; readonly cost: number; readonly story: readonly string[] }[] = [];
  steps = 0;

  async run(name: ProfileName, disturbances: number): Promise<void> {
    const { menu, starts } = await explorationOf(name, { disturbances, maxStates: Number.POSITIVE_INFINITY });
    const plain: Menu = { ...NO_DISTURBANCE, disturbances: menu.disturbances.filter((kind) => kind !== "stall") };
    for (const system of starts) this.#arrive({ ...system, lag: {} }, 0, []);
    for (let waiting = this.#queue.shift(); waiting !== undefined; waiting = this.#queue.shift()) {
      const { system, cost, story } = waiting;
      await visitSuccessors(system, "", cost < disturbances ? plain : NO_DISTURBANCE, async (next) => {
        this.steps += 1;
        await this.#check(system, next, story);
        this.#arrive(next.system, cost + next.cost, [...story, next.label]);
      });
    }
  }

  #arrive(system: System, cost: number, story: readonly string[]): void {
    const key = canonicalKey(system);
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.#queue.push({ system, cost, story });
  }

  async #check(from: System, { label, system, pass }: Successor, story: readonly string[]): Promise<void> {
    const next = await this.#pass(system);
    if (!hasWork(next)) return;
    const { visible, enqueued } = this.#feed.report(
      from.cluster,
      system.cluster,
      pass === undefined ? "watch" : "write",
    );
    if (enqueued) return;
    const last = pass ?? (await this.#pass(from));
    // An engine that has something to do already is in the queue.
    if (pass === undefined && hasWork(last)) return;
    const waitMs = waitOf(last.outcome);
    const limitMs = pass !== undefined ? SOON_MS : visible ? 0 : pollOf(from.cluster, system.cluster);
    if (waitMs > limitMs)
      throw new Violation("due-pass-is-triggered", `nothing starts ${describePass(next)} for ${waitMs} ms`, [
        ...story,
        label,
      ]);
  }

  async #pass(system: System): Promise<PassRecord> {
    const key = canonicalKey(system);
    const known = this.#passes.get(key) ?? (await runPass(system.cluster, system.lag));
    this.#passes.set(key, known);
    return known;
  }
}

/** Whether a pass has an effect, other than on what auto-stop merely keeps for the record. */
function hasWork({ calls }: PassRecord): boolean {
  return calls.some((call) => {
    if (!isWrite(call) || call.before === call.after) return false;
    return (
      call.request.type !== "status" ||
      !isDeepStrictEqual(toldBy(call.request.status), toldBy(call.before.engine?.status))
    );
  });
}

function toldBy(status: Engine["status"]) {
  const { lastReconciled: _, autoStopReason: __, lastActivityTime: ___, ...told } = status ?? {};
  return told;
}

/** What no cache shows is polled: the clock at the moment that is waited for, queries of a drain at its interval. */
function pollOf(before: Cluster, { nowMs }: Cluster): number {
  if (nowMs > before.nowMs) return nowMs - before.nowMs;
  const isPolledOften = before.engine?.status?.phase === "draining" || before.forbidden !== undefined;
  return isPolledOften ? 10_000 : LONGEST_POLL_MS;
}

/** A failed pass is repeated with a back-off. */
function waitOf(outcome: NextCheck | Error): number {
  if (outcome instanceof Error || outcome === "requeue") return 0;
  return outcome === "onChange" ? Number.POSITIVE_INFINITY : outcome.afterMs;
}

test.each([
  ["rollout", 1],
  ["meddling", 1],
  ["editing", 1],
  ["deletion", 1],
  ["strangers", 1],
  ["autoStop", 1],
] as const)(
  "%s: whatever gives an engine something to do enqueues it",
  { timeout: 240_000 },
  async (name, disturbances) => {
    const exploration = new TriggerExploration();
    await exploration.run(name, disturbances);
    console.info(`${name}: ${exploration.steps} steps`);
    expect(exploration.steps).toBeGreaterThan(100);
  },
);
