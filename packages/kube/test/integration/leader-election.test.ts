// Two managers as real processes on one lease. The API server orders all writes, so its resource versions prove who was
// active when: after the first write of one leader there must be no write of the one before.
import { homedir } from "node:os";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import type { KubeClient } from "../../src/client/client.ts";
import { createKubeClient } from "../../src/client/kube-client.ts";
import { loadKubeconfig } from "../../src/config/kubeconfig.ts";
import { holderOf, type Lease, leaseResource } from "../../src/election/lease.ts";
import { eventResource } from "../../src/events/object.ts";
import { ConfigMap } from "../../src/kinds/index.ts";
import { createNamespace, eventually } from "../support/cluster.ts";
import { startControlPlane } from "../support/control-plane.ts";
import { watchLateness } from "../support/lateness.ts";
import { type ManagerProcess, machineMs, QUICK_TIMING, startManager } from "../support/start-manager.ts";

interface World extends AsyncDisposable {
  readonly client: KubeClient;
  readonly namespace: string;
  start(identity: string, work?: "write" | "block"): ManagerProcess;
  lease(): Promise<Lease>;
  /** Who wrote, in the order of the API server, repeats folded: `["a", "b"]`. */
  turns(): Promise<readonly string[]>;
}

async function openWorld(kubeconfig: string): Promise<World> {
  const client = createKubeClient({ config: await loadKubeconfig({ path: kubeconfig, env: {}, homeDir: homedir() }) });
  const namespace = await createNamespace("leaders", kubeconfig);
  await client.create(ConfigMap, { metadata: { name: "seed", namespace, labels: { role: "seed" } } });
  const processes: ManagerProcess[] = [];
  return {
    client,
    namespace,
    start(identity, work = "write") {
      const process = startManager({ kubeconfig, namespace, identity, work });
      processes.push(process);
      return process;
    },
    lease: () => client.get(leaseResource, { namespace, name: "the-lease" }),
    async turns() {
      const { items } = await client.listAll(ConfigMap, { namespace, labelSelector: "role=write" });
      const ordered = items
        .map(({ metadata, data }) => ({
          version: BigInt(metadata?.resourceVersion ?? 0),
          writer: data?.["writer"] ?? "",
        }))
        .sort((one, other) => (one.version < other.version ? -1 : 1));
      return ordered.map(({ writer }) => writer).filter((writer, index, all) => writer !== all[index - 1]);
    },
    async [Symbol.asyncDispose]() {
      for (const process of processes) await process[Symbol.asyncDispose]();
      client.close();
    },
  };
}

/** A leader that writes and a standby that waits. */
async function startPair(world: World): Promise<{ readonly a: ManagerProcess; readonly b: ManagerProcess }> {
  const a = world.start("a");
  await a.said("first-write");
  const b = world.start("b");
  const port = Number((await b.said("probes"))["port"]);
  await eventually(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200, {
    describe: "a ready standby",
  });
  expect(b.has("leading")).toBe(false);
  return { a, b };
}

const written = (world: World, name: string) =>
  eventually(() => world.client.get(ConfigMap, { namespace: world.namespace, name }), { describe: `write ${name}` });

async function writesOf(world: World, writer: string): Promise<number> {
  const { items } = await world.client.listAll(ConfigMap, { namespace: world.namespace, labelSelector: "role=write" });
  return items.filter(({ data }) => data?.["writer"] === writer).length;
}

let world: World;
beforeEach(async () => {
  world = await openWorld(inject("adminKubeconfig"));
});
afterEach(() => world[Symbol.asyncDispose]());

const { leaseMs, renewDeadlineMs, retryMs } = QUICK_TIMING;
const stretchedRetryMs = 1.2 * retryMs;
/** For a busy machine: starting work, requests under way. Shorter than another lease, which nobody may wait for. */
const SLACK_MS = 6_000;

/** A moment of the machine's clock as wall time; never earlier than it was, apart from the fraction of a millisecond. */
const asWallMs = (atMs: number): number => atMs - machineMs() + Date.now();

const renewedMs = async (world: World): Promise<number> => Date.parse((await world.lease()).spec?.renewTime ?? "");

test("a leader killed by SIGKILL is followed when its lease has run out, not earlier", async () => {
  const { a, b } = await startPair(world);
  using lateness = watchLateness();
  a.signal("SIGKILL");
  const killedMs = machineMs();
  expect(await a.exit).toBeNull();
  const lastMs = await renewedMs(world);
  const leading = await b.said("leading");
  expect(asWallMs(leading.atMs) - lastMs).toBeGreaterThanOrEqual(leaseMs - 1);
  const first = await b.said("first-write");
  expect(first.atMs - killedMs).toBeLessThan(leaseMs + 2 * stretchedRetryMs + SLACK_MS + lateness.lostMs());
  expect((await world.lease()).spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
  expect(await world.turns()).toEqual(["a", "b"]);
});

test("a leader that was paused makes no write when it resumes, and ends with code 1", async () => {
  const { a, b } = await startPair(world);
  a.signal("SIGSTOP");
  await b.said("first-write");
  // Well into the reign of b: whatever a still had in its buffers is old by now.
  await written(world, "b-20");
  a.signal("SIGCONT");
  // Whether it still tries to write (and is refused) or ends before that is a matter of microseconds; the next test makes it try.
  expect(await a.exit).toBe(1);
  // Had the server still something of a's to work off, it would come before these.
  await written(world, `b-${(await writesOf(world, "b")) + 10}`);
  expect(await world.turns()).toEqual(["a", "b"]);
  expect(a.lines.find(({ event }) => event === "failed")?.["error"]).toContain("NotLeaderError");
  expect(holderOf(await world.lease())).toBe("b");
});

test("a leader whose event loop stood still past its lease makes no write afterwards, and ends with code 1", async () => {
  const a = world.start("a", "block");
  await a.said("first-write");
  const b = world.start("b");
  await a.said("blocking");
  await b.said("first-write");
  expect(await a.exit).toBe(1);
  expect(a.has("write-refused")).toBe(true);
  await written(world, `b-${(await writesOf(world, "b")) + 10}`);
  expect(await world.turns()).toEqual(["a", "b"]);
});

test("a leader that is asked to stop releases the lease, and the standby follows within a retry period", async () => {
  const { a, b } = await startPair(world);
  using lateness = watchLateness();
  a.signal("SIGTERM");
  expect(await a.exit).toBe(0);
  const released = a.lines.find((line) => line["message"] === "lease released");
  const leading = await b.said("leading");
  // Not when the lease would have run out.
  expect(leading.atMs - (released?.atMs ?? 0)).toBeLessThan(stretchedRetryMs + SLACK_MS + lateness.lostMs());
  await b.said("first-write");
  expect((await world.lease()).spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
  expect(await world.turns()).toEqual(["a", "b"]);
  const events = await eventually(async () => {
    const { items } = await world.client.list(eventResource, { namespace: world.namespace });
    return items.length >= 2 && items;
  });
  expect(events.map(({ note }) => note).sort()).toEqual(["a became leader", "b became leader"]);
  expect(events[0]).toMatchObject({
    reason: "LeaderElection",
    type: "Normal",
    regarding: { kind: "Lease", name: "the-lease" },
  });
});

test("three at once: one leads, and after each stop exactly one other", async () => {
  const processes = ["a", "b", "c"].map((identity) => world.start(identity));
  const order: string[] = [];
  for (let left = [...processes]; left.length > 0; ) {
    const leader = await eventually(() => left.find((process) => process.has("first-write")) ?? false);
    order.push(leader.identity);
    leader.signal("SIGTERM");
    expect(await leader.exit).toBe(0);
    left = left.filter((process) => process !== leader);
  }
  expect(await world.turns()).toEqual(order);
  expect(order).toHaveLength(3);
});

test("a leader without an API server for longer than the renew deadline ends with code 1; the standby outlives it", async () => {
  await using controlPlane = await startControlPlane({});
  await using own = await openWorld(controlPlane.adminKubeconfig);
  const { a, b } = await startPair(own);
  // It may have renewed once more before the server was gone, which only lets it go on for longer.
  const lastMs = await renewedMs(own);
  using lateness = watchLateness();
  await controlPlane.stopApiServer();
  const goneMs = machineMs();
  expect(await a.exit).toBe(1);
  const ended = await a.said("ended");
  expect(asWallMs(ended.atMs) - lastMs).toBeGreaterThanOrEqual(renewDeadlineMs - 1);
  expect(ended.atMs - goneMs).toBeLessThan(leaseMs + lateness.lostMs());
  await controlPlane.startApiServer();
  await b.said("first-write");
  expect(await own.turns()).toEqual(["a", "b"]);
}, 300_000);
