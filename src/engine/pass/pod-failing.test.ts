// What an engine reports of pods that do not become ready: whole passes over an engine in memory.
import { expect, test } from "vitest";
import { image } from "../../../test/engine/support/fake-cluster.ts";
import { type FakeTimedCluster, MINUTE, timed } from "../../../test/engine/support/fake-timed-cluster.ts";
import type { V1ContainerStatus, V1ObjectMeta } from "../../api/generated/kubernetes.ts";
import { copyOf } from "../../api/values/deep-readonly.ts";

const PULL = {
  cause: 'container engine: image "repo/none:1" cannot be pulled (ImagePullBackOff)',
  state: { waiting: { reason: "ErrImagePull", message: "not found" } },
};

async function rolling(): Promise<{ readonly world: FakeTimedCluster; readonly recorded: string[] }> {
  const world = await timed();
  const recorded: string[] = [];
  world.note = (reason, note) => void recorded.push(`${reason}: ${note}`);
  world.edit(image("repo/none:1"));
  for (let count = 0; count < 4; count++) await world.pass();
  world.settle();
  return { world, recorded };
}

/** The pods of the generation get this container. */
function breakPods(world: FakeTimedCluster, generation: number, more: Partial<V1ContainerStatus>): void {
  for (const pod of world.pods({ namespace: "ns", name: "e" }, generation)) {
    const container = { name: "engine", image: "repo/none:1", imageID: "", ready: false, restartCount: 0, ...more };
    const status = {
      phase: "Running",
      conditions: [{ type: "Ready", status: "False" }],
      containerStatuses: [container],
    };
    world.put("Pod", { metadata: copyOf<V1ObjectMeta>(pod.metadata ?? {}), status });
  }
}

const statusWrites = (world: FakeTimedCluster): number =>
  world.taken().filter((request) => request.startsWith("status")).length;

test("a rollout that hangs names the pod and the cause, once as an event, and nothing is written while that is so", async () => {
  const { world, recorded } = await rolling();
  breakPods(world, 1, PULL);
  await world.pass();
  expect(world.ready).toMatchObject({
    status: "False",
    reason: "Rolling",
    message: `Engine is rolling out generation 1 (phase creating): 0 of 2 pods ready: pod e-g1-0: ${PULL.cause}`,
  });
  expect(recorded.filter((one) => one.startsWith("PodFailing"))).toEqual([
    `PodFailing: pod e-g1-0: ${PULL.cause}; next: correct the image reference or the pull secrets; see the registry's response: kubectl describe pod e-g1-0 -n ns`,
  ]);
  statusWrites(world);
  for (let minutes = 0; minutes < 5; minutes++) {
    breakPods(world, 1, { state: { waiting: { reason: minutes % 2 === 0 ? "ImagePullBackOff" : "ErrImagePull" } } });
    world.nowMs += MINUTE;
    await world.pass();
  }
  expect(statusWrites(world)).toBe(0);
  expect(recorded.filter((one) => one.startsWith("PodFailing"))).toHaveLength(1);
  // And it heals: nothing of it stays when the pods are ready.
  world.settle();
  await world.run();
  expect(world.ready).toMatchObject({ status: "True", message: "Generation 1 is serving" });
});

test("at rest, a crash loop reads the same in each of its states", async () => {
  const world = await timed();
  const lastState = { terminated: { exitCode: 3 } };
  const messages = new Set<string | undefined>();
  for (const state of [
    { waiting: { reason: "CrashLoopBackOff" } },
    { running: { startedAt: "2026-01-01T12:00:00Z" } },
    lastState,
  ]) {
    breakPods(world, 0, { restartCount: 2, state, lastState });
    world.nowMs += MINUTE;
    await world.pass();
    messages.add(world.ready?.message);
  }
  expect([...messages]).toEqual([
    "Generation 0: 0 of 2 pods ready: pod e-g0-0: container engine crashes (CrashLoopBackOff): exit code 3",
  ]);
  expect(world.events.filter((reason) => reason === "PodFailing")).toHaveLength(1);
});

test("a pod that is only starting is no news; one that never becomes ready is, without anything else having changed", async () => {
  const { world } = await rolling();
  const startedAt = new Date(world.nowMs).toISOString();
  breakPods(world, 1, { started: false, state: { running: { startedAt } } });
  world.nowMs += 28_000;
  statusWrites(world);
  expect(await world.pass()).toEqual({ afterMs: 2_000 });
  expect(statusWrites(world)).toBe(0);
  world.nowMs += 2_000;
  await world.pass();
  expect(world.ready?.message).toContain("pod e-g1-0: container engine runs, but its startup probe fails");
});

test("the generation that replaces one in trouble does not inherit its cause", async () => {
  const { world } = await rolling();
  breakPods(world, 1, PULL);
  await world.pass();
  world.edit(image("repo/good:1"));
  await world.pass();
  expect(world.ready?.message).toBe("Engine is rolling out generation 2 (phase creating)");
});

test("a crash loop whose last words differ each time is one event and one status write", async () => {
  const world = await timed();
  const words = (crash: number): string =>
    [
      `request ${crypto.randomUUID()} failed: attempt ${crash}, ${crash * 7} rows`,
      `at ${world.nowMs + crash}: dial tcp 10.1.2.${crash}:${40_000 + crash}->10.0.0.1:5432: i/o timeout after ${crash}.5s`,
    ].join("; ");
  statusWrites(world);
  for (let crash = 1; crash <= 30; crash++) {
    const lastState = { terminated: { exitCode: 1, message: `starting\n${words(crash)}\u001b[2J\n` } };
    breakPods(world, 0, { restartCount: crash, state: { waiting: { reason: "CrashLoopBackOff" } }, lastState });
    world.nowMs += MINUTE;
    await world.pass();
  }
  expect(world.ready?.message).toBe(
    "Generation 0: 0 of 2 pods ready: pod e-g0-0: container engine crashes (CrashLoopBackOff): exit code 1: request <id> failed: attempt <n>, <n> rows; at <time>: dial tcp <ip>:5432: i/o timeout after",
  );
  expect(statusWrites(world)).toBe(1);
  expect(world.events.filter((reason) => reason === "PodFailing")).toHaveLength(1);
});

test("pods that a quota does not let come into being are news once, however often it is tried", async () => {
  const { world, recorded } = await rolling();
  for (const { metadata } of world.pods({ namespace: "ns", name: "e" }, 1)) world.drop("Pod", metadata?.name ?? "");
  const set = world.get("StatefulSet", "e-g1");
  world.put("StatefulSet", { ...set, status: { replicas: 0, observedGeneration: set?.metadata?.generation ?? 0 } });
  const message = 'pods "e-g1-0" is forbidden: exceeded quota: small';
  for (let count = 1; count < 40; count += 3) {
    world.warnings = [{ reason: "FailedCreate", message, count, lastSeenMs: world.nowMs }];
    world.nowMs += 20_000;
    await world.pass();
  }
  expect(world.ready?.reason).toBe("FailedCreate");
  expect(recorded.filter((one) => one.startsWith("PodFailing"))).toEqual([`PodFailing: StatefulSet e-g1: ${message}`]);
});
