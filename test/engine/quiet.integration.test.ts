// How many requests the operator sends: within its budget when something changes, none when nothing does, and few for
// invalid input. Every invalid input ends in a condition that names the cause.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINE_CONTRACT } from "../../src/api/engine-contract.ts";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../src/api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { createNamespace, eventually } from "../harness/control-plane/requests.ts";
import { instance } from "../harness/fixtures/manifests.ts";
import type { EngineOperator } from "../harness/operator/engine-operator-in-process.ts";
import type { MetricsAnswer } from "../harness/pods/engine-metrics-server.ts";
import { type EngineControlPlane, openEngineControlPlane } from "./support/engine-control-plane.ts";
import { image, openEngineHarness, readyOf } from "./support/engine-harness.ts";
import { countEngineRequests, REQUEST_BUDGET, untilIdle } from "./support/request-counts.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await openEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

const ENGINES = 50;
const IDLE_MS = 60_000;
const WINDOW_MS = 30_000;
const TIMEOUT_MS = 300_000;

interface Cost {
  readonly requests: readonly string[];
  readonly passes: number;
  /** The actual length of the window: the machine may have stalled. */
  readonly tookMs: number;
}

/** What a window of that time costs. */
async function window(operator: EngineOperator): Promise<Cost> {
  const [requests, passes, startedMs] = [operator.requests.length, operator.passes.length, performance.now()];
  await sleep(WINDOW_MS);
  return {
    requests: operator.requests.slice(requests).map(({ verb, resource }) => `${verb} ${resource}`),
    passes: operator.passes.length - passes,
    tookMs: performance.now() - startedMs,
  };
}

/** A closed gate looks again every 10 s and writes nothing. */
function expectGated({ requests, passes, tookMs }: Cost): void {
  expect(requests).toEqual([]);
  expect(passes).toBeLessThanOrEqual(Math.ceil(tookMs / 10_000) + 1);
}

/** Engines of fifty whose pod may respond too late for its first probe, on a machine that stands still for seconds. */
const LATE_PODS = 5 / ENGINES;
/** The probe itself, the status that says so, and the events that the drain has begun to take time and why. */
const REQUESTS_OF_LATE_POD = 4;

/** Requests per engine, without those that a pod costs which did not respond to its first probe in time. */
function withoutRepeatedProbes(requests: Readonly<Record<string, number>>): number {
  const late = (requests["get pods/proxy"] ?? 0) - 1;
  expect(late).toBeLessThanOrEqual(LATE_PODS);
  const all = Object.values(requests).reduce((sum, count) => sum + count, 0);
  // Sums of fiftieths are not exact.
  return Math.round((all - Math.max(0, late) * REQUESTS_OF_LATE_POD) * ENGINES) / ENGINES;
}

describe.concurrent("requests", () => {
  test(
    `no-needless-write, idle-engines-start-no-pass: ${ENGINES} engines at once stay within ten to create, seventeen to roll or stop, six to delete, none at rest`,
    async () => {
      await using harness = await openEngineHarness(plane, "budget");
      await harness.createInstance();
      const counts = await countEngineRequests(harness, { engines: ENGINES, idleMs: IDLE_MS });
      console.log(JSON.stringify(counts));
      expect(counts.createPerEngine).toBeLessThanOrEqual(REQUEST_BUDGET.create);
      expect(withoutRepeatedProbes(counts.roll)).toBeLessThanOrEqual(REQUEST_BUDGET.roll);
      expect(counts.idleRequests).toBe(REQUEST_BUDGET.idle);
      expect(withoutRepeatedProbes(counts.stop)).toBeLessThanOrEqual(REQUEST_BUDGET.stop);
      expect(counts.deletePerEngine).toBeLessThanOrEqual(REQUEST_BUDGET.delete);
      expect(harness.broken()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    "a class that vanished",
    async () => {
      await using harness = await openEngineHarness(plane, "bad-class");
      await harness.createInstance();
      const operator = await harness.operator();
      await harness.createClass("lost");
      await harness.createEngine("e", { engineClassRef: "lost" });
      await harness.settled("e", 0);
      const key = { namespace: harness.namespace, name: "lost" };
      await harness.client.delete(FireboltEngineClass, key);
      await harness.client.patch(FireboltEngineClass, key, { type: "merge", body: { metadata: { finalizers: null } } });
      const refused = await harness.until(
        "e",
        (e) => readyOf(e)?.reason === "FireboltEngineClassUnready",
        "reports it",
      );
      expect(readyOf(refused)?.message).toContain(
        `FireboltEngineClass "lost" not found in namespace ${harness.namespace}`,
      );
      await settledLog(operator);
      expectGated(await window(operator));
    },
    TIMEOUT_MS,
  );

  test(
    "created-before-instance: an instance of another namespace",
    async () => {
      await using harness = await openEngineHarness(plane, "bad-instance");
      const elsewhere = await createNamespace("elsewhere", plane.kubeconfig);
      const manifest = instance({ name: "main", namespace: elsewhere, id: "01JD0000000000000000000000" });
      await harness.client.create(FireboltInstance, manifest as FireboltInstance);
      const operator = await harness.operator();
      await harness.createEngine("e");
      const refused = await harness.until("e", (e) => readyOf(e)?.reason === "InstanceNotReady", "reports it");
      expect(readyOf(refused)?.message).toContain(
        `FireboltInstance "main" not found in namespace ${harness.namespace}`,
      );
      await settledLog(operator);
      expectGated(await window(operator));
      expect(harness.history.present("StatefulSet")).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    "an engine name that makes the names of its children too long",
    async () => {
      await using harness = await openEngineHarness(plane, "bad-name");
      await harness.createInstance();
      const operator = await harness.operator();
      const name = `e${"x".repeat(60)}`;
      await harness.createEngine(name);
      const refused = await harness.until(name, (e) => readyOf(e)?.reason === "NameRejected", "reports it");
      expect(readyOf(refused)?.message).toContain("metadata.name");
      await settledLog(operator);
      expectGated(await window(operator));
      expect(harness.history.present("StatefulSet")).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    "an engine without a spec",
    async () => {
      await using harness = await openEngineHarness(plane, "bad-spec");
      await harness.createInstance();
      const operator = await harness.operator();
      await harness.client.create(FireboltEngine, { metadata: { namespace: harness.namespace, name: "e" } });
      await eventually(() => harness.history.latest("FireboltEngine", "e") !== undefined);
      const refused = await harness.until("e", (e) => readyOf(e)?.reason === "InstanceNotReady", "reports it");
      expect(readyOf(refused)?.message).toContain("spec.instanceRef");
      await settledLog(operator);
      expectGated(await window(operator));
    },
    TIMEOUT_MS,
  );

  test.each([
    {
      name: "silence-is-not-idle: metrics that are not numbers",
      answer: { body: `${GAUGE.running} many\n${GAUGE.suspended} -1\n` },
      cause: `no usable value for ${GAUGE.running}`,
    },
    {
      name: "silence-is-not-idle: metrics of ten megabytes",
      answer: { bytes: 10_000_000 },
      cause: "larger than 1048576 bytes",
    },
  ] satisfies readonly { name: string; answer: MetricsAnswer; cause: string }[])(
    "$name",
    async ({ answer, cause }) => {
      await using harness = await openEngineHarness(plane, "bad-metrics");
      await harness.createInstance();
      const operator = await harness.operator();
      await harness.createEngine("e", { replicas: 1 });
      await harness.settled("e", 0);
      harness.queries(harness.pods("e", 0)[0], answer);
      await harness.edit("e", image("two"));
      const failing = await harness.until("e", (e) => readyOf(e)?.reason === "DrainCheckFailing", "reports it");
      expect(readyOf(failing)?.message).toContain("e-g0-0");
      expect(readyOf(failing)?.message).toContain(cause);
      await settledLog(operator);
      const cost = await window(operator);
      // One scrape per interval of 5 s, and nothing else: no write, no event, no burst.
      expect(new Set(cost.requests)).toEqual(new Set(["get pods/proxy"]));
      expect(cost.requests.length).toBeLessThanOrEqual(Math.ceil(cost.tookMs / 5_000) + 1);
      // It keeps scraping, as fast as the machine allows.
      const { length } = operator.requests;
      await eventually(() => operator.requests.length >= length + 3);
      expect(harness.engine("e").status).toMatchObject({ phase: "draining", drainingGeneration: 0 });
      expect(harness.broken()).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

/**
 * Events, and passes for recent changes, are still pending: waits until it is idle and has sent no request for two
 * seconds.
 */
async function settledLog(operator: EngineOperator): Promise<void> {
  let [seen, since] = [operator.requests.length, performance.now()];
  await eventually(async () => {
    await untilIdle(operator);
    if (operator.requests.length !== seen) [seen, since] = [operator.requests.length, performance.now()];
    return performance.now() - since > 2_000;
  });
}
