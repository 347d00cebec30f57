// Two managers as real processes on one lease. The API server orders all writes, so its resource versions prove who was
// active when: after the first write of one leader there must be no write of its predecessor.
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

interface Harness extends AsyncDisposable {
  readonly client: KubeClient;
  readonly namespace: string;
  start(identity: string, work?: "write" | "block"): ManagerProcess;
  lease(): Promise<Lease>;
  /** The writers in the order of the API server, without repeats: `["a", "b"]`. */
  turns(): Promise<readonly string[]>;
}

async function startHarness(kubeconfig: string): Promise<Harness> {
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
async function startPair(harness: Harness): Promise<{ readonly a: ManagerProcess; readonly b: ManagerProcess }> {
  const a = harness.start("a");
  await a.said("first-write");
  const b = harness.start("b");
  const port = Number((await b.said("probes"))["port"]);
  await eventually(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200, {
    describe: "a ready standby",
  });
  expect(b.has("leading")).toBe(false);
  return { a, b };
}

const written = (harness: Harness, name: string) =>
  eventually(() => harness.client.get(ConfigMap, { namespace: harness.namespace, name }), {
    describe: `write ${name}`,
  });

async function writesOf(harness: Harness, writer: string): Promise<number> {
  const { items } = await harness.client.listAll(ConfigMap, {
    namespace: harness.namespace,
    labelSelector: "role=write",
  });
  return items.filter(({ data }) => data?.["writer"] === writer).length;
}

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness(inject("adminKubeconfig"));
});
afterEach(() => harness[Symbol.asyncDispose]());

const { leaseMs, renewDeadlineMs, retryMs } = QUICK_TIMING;
const stretchedRetryMs = 1.2 * retryMs;
/** For a busy machine: starting work, requests in flight. */
const SLACK_MS = 6_000;

/** A monotonic time as wall time; never too early by more than the fraction of a millisecond. */
const asWallMs = (atMs: number): number => atMs - machineMs() + Date.now();

const renewedMs = async (harness: Harness): Promise<number> =>
  Date.parse((await harness.lease()).spec?.renewTime ?? "");

test("a leader killed by SIGKILL is succeeded only when its lease has expired", async () => {
  const { a, b } = await startPair(harness);
  using lateness = watchLateness();
  a.signal("SIGKILL");
  const killedMs = machineMs();
  expect(await a.exit).toBeNull();
  const lastMs = await renewedMs(harness);
  const leading = await b.said("leading");
  expect(asWallMs(leading.atMs) - lastMs).toBeGreaterThanOrEqual(leaseMs - 1);
  const first = await b.said("first-write");
  expect(first.atMs - killedMs).toBeLessThan(leaseMs + 2 * stretchedRetryMs + SLACK_MS + lateness.lostMs());
  expect((await harness.lease()).spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
  expect(await harness.turns()).toEqual(["a", "b"]);
});

test("a leader that was paused writes nothing when it resumes, and exits with code 1", async () => {
  const { a, b } = await startPair(harness);
  a.signal("SIGSTOP");
  await b.said("first-write");
  // Long after b took over: whatever a still had in its buffers is stale.
  await written(harness, "b-20");
  a.signal("SIGCONT");
  // Whether it attempts a write (and is fenced) or exits before that is a race of microseconds; the next test forces
  // the attempt.
  expect(await a.exit).toBe(1);
  // Writes of a that the server still had to process would come before these.
  await written(harness, `b-${(await writesOf(harness, "b")) + 10}`);
  expect(await harness.turns()).toEqual(["a", "b"]);
  expect(a.lines.find(({ event }) => event === "failed")?.["error"]).toContain("NotLeaderError");
  expect(holderOf(await harness.lease())).toBe("b");
});

test("a leader whose event loop stalled past its lease writes nothing afterwards, and exits with code 1", async () => {
  const a = harness.start("a", "block");
  await a.said("first-write");
  const b = harness.start("b");
  await a.said("blocking");
  await b.said("first-write");
  expect(await a.exit).toBe(1);
  expect(a.has("write-refused")).toBe(true);
  await written(harness, `b-${(await writesOf(harness, "b")) + 10}`);
  expect(await harness.turns()).toEqual(["a", "b"]);
});

test("a leader that is stopped releases the lease, and the standby takes over within a retry period", async () => {
  const { a, b } = await startPair(harness);
  using lateness = watchLateness();
  a.signal("SIGTERM");
  expect(await a.exit).toBe(0);
  const released = a.lines.find((line) => line["message"] === "lease released");
  const leading = await b.said("leading");
  // Not when the lease would have run out.
  expect(leading.atMs - (released?.atMs ?? 0)).toBeLessThan(stretchedRetryMs + SLACK_MS + lateness.lostMs());
  await b.said("first-write");
  expect((await harness.lease()).spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
  expect(await harness.turns()).toEqual(["a", "b"]);
  const events = await eventually(async () => {
    const { items } = await harness.client.list(eventResource, { namespace: harness.namespace });
    return items.length >= 2 && items;
  });
  expect(events.map(({ note }) => note).sort()).toEqual(["a became leader", "b became leader"]);
  expect(events[0]).toMatchObject({
    reason: "LeaderElection",
    type: "Normal",
    regarding: { kind: "Lease", name: "the-lease" },
  });
});

test("three replicas: one leads, and after each stop exactly one other", async () => {
  const processes = ["a", "b", "c"].map((identity) => harness.start(identity));
  const order: string[] = [];
  for (let left = [...processes]; left.length > 0; ) {
    const leader = await eventually(() => left.find((process) => process.has("first-write")) ?? false);
    order.push(leader.identity);
    leader.signal("SIGTERM");
    expect(await leader.exit).toBe(0);
    left = left.filter((process) => process !== leader);
  }
  expect(await harness.turns()).toEqual(order);
  expect(order).toHaveLength(3);
});

test("a leader without an API server for longer than the renew deadline exits with code 1; the standby continues", async () => {
  await using controlPlane = await startControlPlane({});
  await using own = await startHarness(controlPlane.adminKubeconfig);
  const { a, b } = await startPair(own);
  // It may have renewed once more before the server stopped, which only prolongs its lease.
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
