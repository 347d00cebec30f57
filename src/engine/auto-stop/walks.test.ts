// Auto-stop under whatever happens, in whatever order: random walks over one engine, and where they lead.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type FakeTimedCluster,
  MINUTE,
  POLICY,
  pageOf,
  resting,
} from "../../../test/engine/support/fake-timed-cluster.ts";
import type { AutoStop } from "../../api/firebolt-engine/auto-stop.ts";

type Event =
  | { readonly type: "time"; readonly minutes: number }
  | { readonly type: "queries"; readonly queries: number | "fail" }
  | { readonly type: "stamp"; readonly ageMinutes: number }
  | { readonly type: "replicas"; readonly replicas: number }
  | { readonly type: "policy"; readonly policy: Partial<AutoStop> };

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  fc.integer({ min: 1, max: 40 }).map((minutes): Event => ({ type: "time", minutes })),
  fc.constantFrom<number | "fail">(0, 0, 3, "fail").map((queries): Event => ({ type: "queries", queries })),
  fc.constantFrom(0, 3, 6, -30).map((ageMinutes): Event => ({ type: "stamp", ageMinutes })),
  fc.integer({ min: 0, max: 4 }).map((replicas): Event => ({ type: "replicas", replicas })),
  fc
    .constantFrom<Partial<AutoStop>>(
      {},
      { enabled: false },
      { idleReplicas: 1 },
      { schedule: [{ start: "12:30", end: "13:30" }] },
      { idleTimeout: "5m" },
    )
    .map((policy): Event => ({ type: "policy", policy })),
);

/** An engine at rest, and what the outside has done to it. */
interface Walk {
  readonly world: FakeTimedCluster;
  policy: AutoStop;
  queries: number | "fail";
  stampMs: number;
}

async function startWalk(): Promise<Walk> {
  const world = await resting();
  const walk: Walk = { world, policy: POLICY, queries: 0, stampMs: Number.NEGATIVE_INFINITY };
  world.metrics = () =>
    walk.queries === "fail" ? { status: 500, body: "" } : { status: 200, body: pageOf(walk.queries) };
  return walk;
}

function happens(event: Event, walk: Walk): void {
  const { world } = walk;
  switch (event.type) {
    case "time":
      world.nowMs += event.minutes * MINUTE;
      return;
    case "queries":
      walk.queries = event.queries;
      return;
    case "replicas":
      world.edit({ replicas: event.replicas });
      return;
    case "stamp":
      walk.stampMs = world.nowMs - event.ageMinutes * MINUTE;
      world.stamp(walk.stampMs);
      return;
    case "policy":
      walk.policy = { ...POLICY, ...event.policy };
      world.edit({ autoStop: walk.policy });
      return;
    default:
      event satisfies never;
  }
}

test("one-status-write, policy-off-never-scales, scaled-only-to-configured-numbers, stopped-only-when-quiet, wake-only-fresh-from-zero, full-timeout-after-start: on random walks, who changes replicas, from where, and after how much quiet", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyEvent, { maxLength: 25 }), async (events) => {
      const walk = await startWalk();
      const { world } = walk;
      let lastBusyMs = world.nowMs;
      for (const event of events) {
        happens(event, walk);
        const { policy, queries, stampMs } = walk;
        for (let count = 0; count < 12; count++) {
          const before = { replicas: world.replicas ?? 0, phase: world.status?.phase, atMs: world.nowMs };
          world.taken();
          await world.pass();
          const requests = world.taken();
          expect(requests.filter((request) => request.startsWith("status")).length).toBeLessThanOrEqual(1);
          const after = world.replicas ?? 0;
          if (after !== before.replicas) {
            expect(policy.enabled).toBe(true);
            // A wake that meets a stop switches back to the draining generation, whatever its number of replicas.
            const meetsStop = before.phase === "draining" && before.replicas === 0;
            if (!meetsStop) expect(["stable", "stopped"]).toContain(before.phase);
            if (!meetsStop) expect([policy.activeReplicas, policy.idleReplicas]).toContain(after);
            const hour = new Date(world.nowMs).toISOString().slice(11, 16);
            const windowOpen = policy.schedule !== undefined && hour >= "12:30" && hour < "13:30";
            const ageMs = world.nowMs - stampMs;
            const wakes = ageMs < 5 * MINUTE && ageMs >= -MINUTE && before.replicas === 0;
            if (after < before.replicas && !windowOpen) {
              expect(queries).toBe(0);
              const timeoutMs = policy.idleTimeout === "5m" ? 5 * MINUTE : 30 * MINUTE;
              expect(world.nowMs - lastBusyMs).toBeGreaterThanOrEqual(timeoutMs);
            }
            if (after > before.replicas && !windowOpen) expect(wakes).toBe(true);
            if (after > before.replicas) lastBusyMs = world.nowMs;
          }
          const entersStable = before.phase !== "stable" && world.status?.phase === "stable";
          const looked = requests.some((request) => request.startsWith("scrape"));
          if (entersStable || (looked && queries !== 0)) lastBusyMs = world.nowMs;
          world.settle();
        }
      }
    }),
    { numRuns: 150 },
  );
}, 300_000);

test("lasting-demand-wakes, demand-ages-out: after any walk, demand that lasts wakes a stopped engine, and demand that has ended does not keep it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyEvent, { maxLength: 12 }), async (events) => {
      const walk = await startWalk();
      const { world } = walk;
      for (const event of events) {
        happens(event, walk);
        await world.pass();
        world.settle();
      }
      walk.queries = 0;
      world.edit({ autoStop: POLICY, replicas: 0 });
      world.stamp(world.nowMs - 6 * MINUTE);
      await world.rest();
      // A request of the second in which the engine was scaled is repeated by the waiting gateway, with a later time.
      world.nowMs += 1_000;
      world.stamp(world.nowMs);
      await world.rest();
      expect(world.replicas).toBe(POLICY.activeReplicas);
      // No further requests: the last stamp expires, and the engine stops after its idle time.
      for (let minutes = 0; minutes <= 31; minutes++) {
        world.nowMs += MINUTE;
        await world.rest();
      }
      expect([world.replicas, world.status?.phase]).toEqual([0, "stopped"]);
    }),
    { numRuns: 100 },
  );
}, 300_000);
