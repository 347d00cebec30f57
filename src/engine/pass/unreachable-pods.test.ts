// Many engines with a pod on a node that vanished, and one that must wake: the real controller with its real workers
// and passes, over engines in memory. The clock is manual, so the bounds are those of the product and not of the
// machine.
import { KubeTimeoutError, type ObjectKey, silentLogger, sleep } from "@firebolt-operator/kube";
import { controllerRunnable, type WatchSource } from "@firebolt-operator/kube/controller";
import { silentRuntimeMetrics } from "@firebolt-operator/kube/metrics";
import { ManualClock } from "@firebolt-operator/kube/testing";
import { expect, test } from "vitest";
import { type FakeTimedCluster, resting } from "../../../test/engine/support/fake-timed-cluster.ts";
import { NOW_MS } from "../../../test/engine/support/fixtures.ts";
import { metricsOf } from "../../../test/engine/support/probe-harness.ts";
import { OPERATOR_DEFAULTS } from "../../api/operator-defaults.ts";
import type { EngineCluster, EngineKey } from "../cluster/engine-cluster.ts";
import { noEngineMetrics } from "../metrics-hooks.ts";
import type { ProbeRequest, QueryProber, ScrapePod } from "../probe/query-probe.ts";
import { createQueryProber, PROBE_CONCURRENCY } from "../probe/query-prober.ts";
import { runEnginePass } from "./pass.ts";

const UNREACHABLE = 150;
const WORKERS = 8;
const STEP_MS = 100;
const LONGEST_MS = 600_000;

test("probing-beside-passes: 150 auto-stop engines with an unreachable pod: another engine wakes within 3 s", async () => {
  await using fleet = await startFleet();
  const { clock, lost, woken } = fleet;
  // Every engine is probed, and probed again: then as many probes hang as may.
  await fleet.until(() => lost.every(({ status }) => status?.autoStopReason === "ScrapeFailed"));
  await fleet.until(() => fleet.hanging === 0);
  await fleet.until(() => fleet.hanging === PROBE_CONCURRENCY / 2);

  woken.stamp(clock.now());
  fleet.enqueue("woken");
  expect(await fleet.until(() => woken.replicas === 2), "ms to spec.replicas").toBeLessThanOrEqual(3_000);
  expect(await fleet.until(() => woken.ready?.status === "True"), "ms to Ready").toBeLessThanOrEqual(10_000);
  for (const { status } of lost) expect(status).toMatchObject({ phase: "stable", autoStopReason: "ScrapeFailed" });
});

interface Fleet extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly lost: readonly FakeTimedCluster[];
  readonly woken: FakeTimedCluster;
  /** Scrapes that wait for a pod which will never respond. */
  readonly hanging: number;
  enqueue(name: string): void;
  /**
   * Lets time pass until it is so, at most ten minutes; pods follow their StatefulSets. Resolves with how long it took.
   */
  until(isSo: () => boolean): Promise<number>;
}

async function startFleet(): Promise<Fleet> {
  const clock = new ManualClock(NOW_MS);
  const stop = new AbortController();
  const engines = new Map<string, FakeTimedCluster>();
  for (let index = 0; index < UNREACHABLE; index++) engines.set(`lost${index}`, withLostPod(await resting()));
  const lost = [...engines.values()];
  const woken = await resting({}, 0);
  engines.set("woken", woken);

  let hanging = 0;
  const scrape: ScrapePod = async ({ metadata }, _mode, signal) => {
    if (!isLost(metadata?.name)) return metricsOf(0);
    hanging += 1;
    await sleep(clock, 3_000, signal).finally(() => {
      hanging -= 1;
    });
    throw new KubeTimeoutError("no response headers within 3000 ms");
  };
  const prober = createQueryProber({ scrape, clock, signal: stop.signal, logger: silentLogger });
  const manual = manualSource();
  const runnable = controllerRunnable(
    {
      name: "fireboltengine",
      concurrency: WORKERS,
      watches: [manual.source, probeResults(prober)],
      reconcile({ name }, _signal, { logger }) {
        const engine = engines.get(name);
        if (engine === undefined) return Promise.resolve("onChange" as const);
        const deps = { defaults: OPERATOR_DEFAULTS, bounds: {}, drainSettleMs: 0, nowMs: () => clock.now(), logger };
        return runEnginePass(
          probedCluster(engine, { namespace: "ns", name }, prober),
          { namespace: "ns", name: "e" },
          { ...deps, events: { record: () => undefined }, metrics: noEngineMetrics },
        );
      },
    },
    { clock, logger: silentLogger, metrics: silentRuntimeMetrics },
  );
  const running = runnable.run(stop.signal);
  await clock.advance(0);
  for (const name of engines.keys()) manual.enqueue({ namespace: "ns", name });
  return {
    clock,
    lost,
    woken,
    get hanging() {
      return hanging;
    },
    enqueue: (name) => manual.enqueue({ namespace: "ns", name }),
    async until(isSo) {
      const startMs = clock.monotonicMs();
      while (!isSo() && clock.monotonicMs() - startMs < LONGEST_MS) {
        await clock.advance(STEP_MS);
        woken.settle();
      }
      if (!isSo()) throw new Error(`not so within ${LONGEST_MS / 1000} s: ${isSo}`);
      return clock.monotonicMs() - startMs;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

const isLost = (pod: string | undefined): boolean => pod === "e-g0-1";

/** The second of the two pods is on a node that vanished: Running and not ready, for ever. */
function withLostPod(engine: FakeTimedCluster): FakeTimedCluster {
  const pod = engine.get("Pod", "e-g0-1");
  const conditions = [{ type: "Ready", status: "False" }];
  engine.put("Pod", { ...pod, status: { ...pod?.status, phase: "Running", conditions } });
  return engine;
}

/** All these engines have the same name in their own stores: the prober's view of them is separated here. */
function probedCluster(engine: FakeTimedCluster, key: EngineKey, prober: QueryProber): EngineCluster {
  const queries = (_: EngineKey, pods: Parameters<QueryProber["queries"]>[1], request: ProbeRequest) =>
    prober.queries(
      key,
      pods.map((pod) => ({ ...pod, metadata: { ...pod.metadata, uid: `${key.name} ${pod.metadata?.uid}` } })),
      request,
    );
  return new Proxy(engine, {
    get(target, property) {
      if (property === "queries") return queries;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function probeResults(prober: QueryProber): WatchSource {
  return {
    describe: "QueryProbe",
    start: (enqueue) => prober.onResult(enqueue),
    whenSynced: () => Promise.resolve(),
  };
}

function manualSource() {
  let emit: (key: ObjectKey) => void = () => undefined;
  const source: WatchSource = {
    describe: "FireboltEngine",
    start(enqueue) {
      emit = enqueue;
      return () => undefined;
    },
    whenSynced: () => Promise.resolve(),
  };
  return { source, enqueue: (key: ObjectKey) => emit(key) };
}
