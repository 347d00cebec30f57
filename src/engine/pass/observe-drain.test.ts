// What counts as drained: which pods are probed, whether the cache is enough to know them, and from which moment on a
// probe counts.
import { describe, expect, test } from "vitest";
import { image } from "../../../test/engine/support/fake-cluster.ts";
import { type FakeTimedCluster, timed } from "../../../test/engine/support/fake-timed-cluster.ts";
import { ENGINE_CONTRACT } from "../../api/engine-contract.ts";
import type { Departure, DepartureRequest } from "../gateways/gateway-reports.ts";
import type { ProbeRequest } from "../probe/query-probe.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

const SETTLE_MS = 35_000;
const IDLE = `${GAUGE.running} 0\n${GAUGE.suspended} 0\n`;

async function draining(settleMs = 0): Promise<FakeTimedCluster> {
  const world = await timed();
  world.drainSettleMs = settleMs;
  world.edit(image("new:1"));
  while (world.status?.phase !== "draining") {
    await world.pass();
    world.settle();
  }
  world.taken();
  return world;
}

function changePod(world: FakeTimedCluster, name: string, status: object): void {
  const pod = world.get("Pod", name);
  world.put("Pod", { ...pod, status: { ...pod?.status, ...status } });
}

const busy = (world: FakeTimedCluster, name: string) => {
  world.metrics = (pod) => {
    const queries = pod === name ? 1 : 0;
    return { status: 200, body: `${GAUGE.running} ${queries}\n${GAUGE.suspended} 0\n` };
  };
};

test("no probe counts before the settle time is over, and the engine is enqueued when it is", async () => {
  const world = await draining(SETTLE_MS);
  expect(await world.pass()).toEqual({ afterMs: SETTLE_MS });
  world.nowMs += SETTLE_MS - 1;
  expect(await world.pass()).toEqual({ afterMs: 1 });
  expect(world.taken()).toEqual([]);
  world.nowMs += 1;
  await world.pass();
  expect(world.status?.phase).toBe("cleaning");
});

test("drain-settle: only a probe that began after the settle time counts", async () => {
  const world = await draining(SETTLE_MS);
  const asked: ProbeRequest[] = [];
  world.nowMs += SETTLE_MS;
  Object.assign(world, {
    queries: async (_engine: unknown, _pods: unknown, request: ProbeRequest) => {
      asked.push(request);
      return { type: "idle" };
    },
  });
  await world.pass();
  expect(asked.map(({ sinceMs }) => sinceMs)).toEqual([world.nowMs]);
});

test("a routing Service that strays to the draining generation starts the settle time again", async () => {
  const world = await draining(SETTLE_MS);
  world.nowMs += SETTLE_MS;
  const service = world.get("Service", "e-service");
  const selector = { ...service?.spec?.selector, "firebolt.io/generation": "0" };
  world.put("Service", { ...service, spec: { ...service?.spec, selector } });
  await world.pass();
  expect(world.get("Service", "e-service")?.spec?.selector?.["firebolt.io/generation"]).toBe("1");
  expect(await world.pass()).toEqual({ afterMs: SETTLE_MS });
  expect(world.status).toMatchObject({ phase: "draining" });
});

test("drain-with-busy-pod: a pod that fails its readiness probe under a query holds the drain", async () => {
  const world = await draining();
  changePod(world, "e-g0-1", { conditions: [{ type: "Ready", status: "False" }] });
  busy(world, "e-g0-1");
  await world.pass();
  expect(world.status?.phase).toBe("draining");
});

const STARTED = "2026-01-01T00:00:10Z";
const running = { running: { startedAt: STARTED } };

const container = (more: object, unreadySince = "2026-01-01T00:00:05Z") => ({
  conditions: [{ type: "Ready", status: "False", lastTransitionTime: unreadySince }],
  containerStatuses: [{ name: "engine", image: "", imageID: "", ready: false, restartCount: 4, ...more }],
});

test.each([
  ["crashes, between two attempts", { state: { waiting: { reason: "CrashLoopBackOff" } } }],
  ["crashes, right after an attempt", { state: { terminated: { exitCode: 1 } } }],
  ["has never passed its startup probe", { started: false, state: running }],
])("a pod whose engine %s has no query, and holds no drain", async (_, more) => {
  const world = await draining();
  changePod(world, "e-g0-1", container(more));
  world.metrics = (pod) => (pod === "e-g0-1" ? { status: 500, body: "" } : { status: 200, body: IDLE });
  await world.pass();
  expect(world.status?.phase).toBe("cleaning");
});

test.each([
  ["was ready and fails its readiness probe", { started: true, state: running }, undefined],
  ["runs, and nothing more is known", { state: { running: {} } }, undefined],
  ["was ready before the kubelet restarted", { started: false, state: running }, "2026-01-01T00:05:00Z"],
  ["became unready in the second of its start", { started: false, state: running }, STARTED],
  ["has a start that is not known", { started: false, state: { running: {} } }, undefined],
])("a pod whose engine %s may run a query, and holds the drain while it does not respond", async (_, more, since) => {
  const world = await draining();
  changePod(world, "e-g0-1", container(more, since));
  world.metrics = (pod) => (pod === "e-g0-1" ? { status: 500, body: "" } : { status: 200, body: IDLE });
  await world.pass();
  expect(world.ready?.reason).toBe("DrainCheckFailing");
});

test("that a pod has no query is confirmed by the API server: the cache may not have seen it start", async () => {
  const world = await draining();
  changePod(world, "e-g0-1", container({ started: false, state: running }));
  world.freeze();
  changePod(world, "e-g0-1", container({ started: true, state: running }));
  busy(world, "e-g0-1");
  await world.pass();
  expect(world.status?.phase).toBe("draining");
});

test("a pod of a phase that is not known holds the drain until it has been probed", async () => {
  const world = await draining();
  changePod(world, "e-g0-1", { phase: "Unknown" });
  busy(world, "e-g0-1");
  await world.pass();
  expect(world.status?.phase).toBe("draining");
});

test("drain-with-pod-not-running: a pod that is Pending in the cache and runs a query by now holds the drain", async () => {
  const world = await draining();
  changePod(world, "e-g0-1", { phase: "Pending" });
  world.freeze();
  changePod(world, "e-g0-1", { phase: "Running" });
  busy(world, "e-g0-1");
  await world.pass();
  expect(world.taken()[0]).toBe("list Pod e");
  expect(world.status?.phase).toBe("draining");
});

test("drain-with-pod-not-running: a pod that has not started runs no query", async () => {
  const world = await draining();
  changePod(world, "e-g0-1", { phase: "Pending" });
  busy(world, "e-g0-1");
  await world.pass();
  expect(world.taken().filter((request) => request.startsWith("scrape"))).toEqual(["scrape Pod e-g0-0"]);
  expect(world.status?.phase).toBe("cleaning");
});

test("started-by-hand: a generation without replicas has nothing to settle and nothing to probe", async () => {
  const world = await timed();
  world.edit({ replicas: 0 });
  await world.run();
  world.drainSettleMs = SETTLE_MS;
  world.edit({ replicas: 1 });
  while (world.status?.phase !== "draining") {
    await world.pass();
    world.settle();
  }
  world.taken();
  await world.pass();
  expect(world.status?.phase).toBe("cleaning");
  expect(world.taken().filter((request) => request.startsWith("scrape"))).toEqual([]);
});

/** What the garbage collector does to the pods of a StatefulSet that is deleted with --cascade=orphan. */
function orphan(world: FakeTimedCluster): void {
  for (const name of ["e-g0-0", "e-g0-1"]) {
    const pod = world.get("Pod", name);
    world.put("Pod", { ...pod, metadata: { ...pod?.metadata, ownerReferences: [] } });
  }
}

test("pods that lost their StatefulSet are probed, and deleted when they are idle", async () => {
  const world = await draining();
  world.drop("StatefulSet", "e-g0");
  orphan(world);
  busy(world, "e-g0-1");
  await world.pass();
  expect(world.status?.phase).toBe("draining");
  busy(world, "none");
  await world.pass();
  await world.pass();
  expect(world.names("Pod")).toEqual(["e-g1-0", "e-g1-1"]);
  expect(world.status?.phase).toBe("stable");
});

test("pods that lost their StatefulSet go, though another owner has one of its name", async () => {
  const world = await draining();
  world.put("StatefulSet", { metadata: { name: "e-g0" } });
  orphan(world);
  await world.pass();
  await world.pass();
  expect(world.names("Pod")).toEqual(["e-g1-0", "e-g1-1"]);
  expect(world.names("StatefulSet")).toContain("e-g0");
});

test("a set that lost its label is deleted with its generation, by name", async () => {
  const world = await draining();
  await world.pass();
  expect(world.status?.phase).toBe("cleaning");
  const set = world.get("StatefulSet", "e-g0");
  world.put("StatefulSet", { ...set, metadata: { ...set?.metadata, labels: {} } });
  world.isHidden = (_kind, name) => name.startsWith("e-g0");
  await world.pass();
  world.settle();
  expect([...world.names("StatefulSet"), ...world.names("ConfigMap")]).toEqual(["e-g1", "e-g1-config"]);
  expect(world.names("Service")).not.toContain("e-g0-hl");
});

test("a Service that the cache shows at the new generation, and that selects the old one, holds up the deletion", async () => {
  const world = await draining();
  await world.pass();
  expect(world.status?.phase).toBe("cleaning");
  world.freeze();
  const service = world.get("Service", "e-service");
  const selector = { ...service?.spec?.selector, "firebolt.io/generation": "0" };
  world.put("Service", { ...service, spec: { ...service?.spec, selector } });
  await world.pass();
  expect(world.status?.phase).toBe("draining");
  expect(world.get("StatefulSet", "e-g0")?.metadata?.deletionTimestamp).toBeUndefined();
});

describe("gateways that report the endpoints they use", () => {
  /** What the gateways report, and what was requested of them. */
  async function reporting(first: Departure) {
    const world = await draining(SETTLE_MS);
    const since: number[] = [];
    const state = { departure: first };
    Object.assign(world, {
      departure: (_engine: unknown, { sinceMs }: DepartureRequest) => {
        since.push(sinceMs);
        return state.departure;
      },
    });
    return { world, since, state };
  }

  test("settle-five-when-discovered: a probe counts after five seconds when all gateways have left the generation", async () => {
    const { world, since } = await reporting({ leftAtMs: 0 });
    expect(await world.pass()).toEqual({ afterMs: 5_000 });
    expect(since).toEqual([]);
    world.nowMs += 5_000;
    await world.pass();
    expect(since).toEqual([world.nowMs]);
    expect(world.status?.phase).toBe("cleaning");
  });

  test("discovery-known-not-assumed: while it is unknown the whole settle time holds", async () => {
    const { world, state } = await reporting("pending");
    world.nowMs += 5_000;
    expect(await world.pass()).toEqual({ afterMs: SETTLE_MS - 5_000 });
    state.departure = "unknown";
    expect(await world.pass()).toEqual({ afterMs: 10_000 });
    world.nowMs += SETTLE_MS - 5_001;
    expect(await world.pass()).toEqual({ afterMs: 1 });
    world.nowMs += 1;
    await world.pass();
    expect(world.status?.phase).toBe("cleaning");
  });

  test("what pods responded before the gateways were read does not count", async () => {
    const { world, state } = await reporting("unknown");
    const queries = world.queries.bind(world);
    const since: number[] = [];
    world.queries = (identity, pods, probe) => {
      since.push(probe?.sinceMs ?? 0);
      return queries(identity, pods, probe);
    };
    world.nowMs += 8_000;
    state.departure = { leftAtMs: world.nowMs - 1_000 };
    await world.pass();
    expect(since).toEqual([world.nowMs - 1_000]);
  });

  test("a generation that gateways have left is still kept while it runs queries", async () => {
    const { world } = await reporting({ leftAtMs: 0 });
    busy(world, "e-g0-0");
    world.nowMs += 5_000;
    await world.pass();
    expect(world.status?.phase).toBe("draining");
  });
});
