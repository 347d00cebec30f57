// New generations that nothing of ours explains wait, twice as long each time; a change of the spec never does.
import { expect, test } from "vitest";
import { image } from "../../../test/engine/support/fake-cluster.ts";
import { type FakeTimedCluster, timed } from "../../../test/engine/support/fake-timed-cluster.ts";

const SECOND = 1_000;

/** Somebody edits the newest StatefulSet, as a policy would edit every new one. */
function scaleByHand(world: FakeTimedCluster): void {
  const name = `e-g${world.status?.currentGeneration}`;
  const set = world.get("StatefulSet", name);
  if (set?.spec === undefined) throw new Error(`no ${name}`);
  const creationTimestamp = set.metadata?.creationTimestamp ?? new Date(world.nowMs).toISOString();
  const metadata = { ...set.metadata, creationTimestamp, generation: 2 };
  world.put("StatefulSet", { ...set, metadata, spec: { ...set.spec, replicas: (set.spec.replicas ?? 1) + 1 } });
}

/** How long the next generation waits, by the status that the pass leaves. */
async function waited(world: FakeTimedCluster): Promise<number> {
  scaleByHand(world);
  await world.pass();
  const until = world.status?.heldRollout?.until;
  return until === undefined ? 0 : Date.parse(until) - world.nowMs;
}

/** The generation that waits starts, and is built as far as its StatefulSet. */
async function build(world: FakeTimedCluster): Promise<void> {
  const until = world.status?.heldRollout?.until;
  if (until !== undefined) world.nowMs = Date.parse(until);
  await world.pass();
  await world.pass();
}

test("damping-of-unexplained-rollouts: a generation that only a foreign edit causes waits a second, and each one after it twice as long, up to five minutes", async () => {
  const world = await timed();
  const waits: number[] = [];
  for (let count = 0; count < 11; count++) {
    waits.push((await waited(world)) / SECOND);
    await build(world);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  expect(world.status).toMatchObject({ currentGeneration: 11, heldRollout: { attempts: 11 } });
});

test("while it waits nothing is created, and it starts when its time has come", async () => {
  const world = await timed();
  expect(await waited(world)).toBe(SECOND);
  world.nowMs += SECOND - 1;
  expect(await world.pass()).toEqual({ afterMs: 1 });
  expect(world.status).toMatchObject({ phase: "stable", currentGeneration: 0 });
  world.nowMs += 1;
  expect(await world.pass()).toBe("requeue");
  expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 1 });
});

test("a change of the spec starts at once, though another generation waits, and ends the row", async () => {
  const world = await timed();
  await waited(world);
  await build(world);
  expect(await waited(world)).toBe(2 * SECOND);
  world.edit(image("new:1"));
  expect(await world.pass()).toBe("requeue");
  expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 2 });
  expect(world.status?.heldRollout).toBeUndefined();
});

test("edits are forgotten after a generation has lived for ten minutes", async () => {
  const world = await timed();
  await waited(world);
  await build(world);
  await world.run();
  const set = world.get("StatefulSet", "e-g1");
  world.put("StatefulSet", {
    ...set,
    metadata: { ...set?.metadata, creationTimestamp: new Date(world.nowMs).toISOString() },
  });
  world.nowMs += 10 * 60 * SECOND - 1;
  await world.pass();
  expect(world.status?.heldRollout).toMatchObject({ attempts: 1 });
  world.nowMs += 1;
  await world.pass();
  expect(world.status?.heldRollout).toBeUndefined();
  expect(await waited(world)).toBe(SECOND);
});

test("a missing StatefulSet is replaced at once the first time, and later after a while", async () => {
  const world = await timed();
  world.drop("StatefulSet", "e-g0");
  expect(await world.pass()).toBe("requeue");
  expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 1, heldRollout: { attempts: 1 } });
  await world.run();
  world.drop("StatefulSet", "e-g1");
  expect(await world.pass()).toEqual({ afterMs: 2 * SECOND });
  expect(world.status).toMatchObject({ phase: "stable", currentGeneration: 1 });
});
