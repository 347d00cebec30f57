// Drains on a real control plane: the old generation is deleted once every Running pod has reported that it runs no
// query, and not before. Pods are simulated; the test serves their metrics endpoints, which are scraped as in
// production, through the API server's pods/proxy.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINE_CONTRACT } from "../../src/api/engine-contract.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { pods, services } from "../../src/engine/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import type { MetricsAnswer } from "../harness/pods/engine-metrics-server.ts";
import { type EngineControlPlane, openEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineHarness, image, openEngineHarness, readyOf } from "./support/engine-harness.ts";
import { generationsOf } from "./support/history-views.ts";
import { recordingClock } from "./support/recording-clock.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await openEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

type OperatorOptions = Parameters<EngineHarness["operator"]>[0];

/** A namespace with an operator and an engine `e`, at rest on generation 0. */
async function openHarness(prefix: string, operator?: OperatorOptions): Promise<EngineHarness> {
  const harness = await openEngineHarness(plane, prefix);
  await harness.createInstance();
  await harness.operator(operator);
  await harness.createEngine("e", { drainCheckInterval: "1s" });
  await harness.settled("e", 0);
  return harness;
}

/** Rolls to generation 1, where generation 0 stays busy: the engine stops in `draining`. */
async function openDraining(
  prefix: string,
  answers: readonly MetricsAnswer[],
  operator?: OperatorOptions,
): Promise<EngineHarness> {
  const harness = await openHarness(prefix, operator);
  for (const [index, answer] of answers.entries()) harness.queries(harness.pods("e", 0)[index], answer);
  await harness.edit("e", image("two"));
  await harness.until("e", (e) => e.status?.phase === "draining", "drains");
  return harness;
}

const idle = (harness: EngineHarness): void => {
  for (const pod of harness.pods("e", 0)) harness.queries(pod, {});
};

describe.concurrent("a drain", () => {
  test("edited-while-draining, drain-with-busy-pod, draining-kept-until-cleaning, one-rollout-at-a-time: one busy pod of two holds it; edits wait, and cost one bump afterwards", async () => {
    await using harness = await openDraining("drain-with-busy-pod", [{}, { running: 1 }]);
    await harness.edit("e", { replicas: 1 });
    await harness.edit("e", { replicas: 3 });
    const busy = harness.pods("e", 0)[1]?.status?.podIP ?? "";
    const before = plane.metrics.asked(busy);
    await eventually(() => plane.metrics.asked(busy) >= before + 3);
    expect(harness.engine("e").status).toMatchObject({
      phase: "draining",
      currentGeneration: 1,
      drainingGeneration: 0,
    });
    expect(harness.pods("e", 0)).toHaveLength(2);
    idle(harness);
    await harness.settled("e", 2);
    expect(generationsOf(harness, "e")).toEqual([0, 1, 2]);
    expect(harness.broken()).toEqual([]);
  });

  test("drain-with-suspended-query: suspended queries alone hold it", async () => {
    await using harness = await openDraining("drain-with-suspended-query", [{ suspended: 2 }]);
    const address = harness.pods("e", 0)[0]?.status?.podIP ?? "";
    const askedBefore = plane.metrics.asked(address);
    await eventually(() => plane.metrics.asked(address) >= askedBefore + 2);
    expect(harness.engine("e").status?.phase).toBe("draining");
    idle(harness);
    await harness.settled("e", 1);
    expect(harness.broken()).toEqual([]);
  });

  test.each([
    { name: "drain-with-silent-pod, silence-is-not-idle: an unreachable pod", answer: "broken" },
    { name: "drain-with-silent-pod: an error page", answer: { status: 500 } },
    {
      name: "gauge-with-labels-only: a gauge with labels only",
      answer: { body: `${GAUGE.running}{a="b"} 0\n${GAUGE.suspended} 0\n` },
    },
    {
      name: "silence-is-not-idle: a value that is no number",
      answer: { body: `${GAUGE.running} NaN\n${GAUGE.suspended} 0\n` },
    },
  ] as const)(
    "$name shows as DrainCheckFailing with the pod's name, at the interval, and recovers",
    async ({ answer }) => {
      const { clock, delaysMs } = recordingClock();
      await using harness = await openDraining("drain-with-silent-pod", [{}, answer], { clock });
      const failing = await harness.until(
        "e",
        (e) => readyOf(e)?.reason === "DrainCheckFailing",
        "reports that it cannot scrape",
      );
      expect(readyOf(failing)).toMatchObject({ status: "False", message: expect.stringContaining("e-g0-1") });
      const address = harness.pods("e", 0)[1]?.status?.podIP ?? "";
      const [before, startedMs, delaysBefore] = [plane.metrics.asked(address), performance.now(), delaysMs.length];
      await eventually(() => plane.metrics.asked(address) >= before + 3);
      // Three more checks at an interval of 1 s: neither a hot loop nor a growing back-off.
      expect(performance.now() - startedMs).toBeGreaterThan(2_000);
      await eventually(() => delaysMs.slice(delaysBefore).filter((ms) => ms > 900).length >= 3);
      expect(Math.max(...delaysMs.slice(delaysBefore))).toBeLessThanOrEqual(1_000);
      idle(harness);
      await harness.settled("e", 1);
      expect(harness.broken()).toEqual([]);
    },
  );

  test("drain-with-pod-not-running: a pod that is not Running is not probed", async () => {
    await using harness = await openHarness("drain-with-pod-not-running");
    const [pod] = harness.pods("e", 0);
    harness.queries(pod, { running: 5 });
    const askedBefore = plane.metrics.asked(pod?.status?.podIP ?? "");
    const patch = { type: "merge", body: { status: { phase: "Pending" } } } as const;
    await harness.client.patch(pods, { namespace: harness.namespace, name: pod?.metadata?.name ?? "" }, patch, {
      subresource: "status",
    });
    await harness.edit("e", image("two"));
    await harness.settled("e", 1);
    expect(plane.metrics.asked(pod?.status?.podIP ?? "")).toBe(askedBefore);
    expect(harness.broken()).toEqual([]);
  });

  test("stuck-drain-released: setting recreate releases a stuck drain, and causes no roll", async () => {
    await using harness = await openDraining("stuck-drain-released", [{ running: 1 }]);
    await harness.edit("e", { rollout: "recreate" });
    await harness.settled("e", 1);
    expect(generationsOf(harness, "e")).toEqual([0, 1]);
    expect(harness.broken()).toEqual([]);
  });

  test("instance-deleted-while-draining, rollout-ends-without-instance: an instance deleted on the way does not stop it; only at rest it is missed", async () => {
    await using harness = await openDraining("instance-deleted-while-draining", [{ running: 1 }]);
    await harness.client.delete(FireboltInstance, { namespace: harness.namespace, name: "main" });
    idle(harness);
    const resting = await harness.until("e", (e) => readyOf(e)?.reason === "InstanceNotReady", "misses its instance");
    expect(resting.status).toMatchObject({ phase: "stable", activeGeneration: 1 });
    expect(resting.status).not.toHaveProperty("drainingGeneration");
    await eventually(() => harness.statefulSet("e", 0) === undefined);
    expect(harness.broken()).toEqual([]);
  });

  test("routing-service-deleted-while-draining, routing-repaired-at-once: the routing Service deleted while draining comes back, selecting the new generation", async () => {
    await using harness = await openDraining("routing-service-deleted-while-draining", [{ running: 1 }]);
    const uid = () => harness.history.latest("Service", "e-service")?.metadata?.uid;
    const deleted = uid();
    await harness.client.delete(services, { namespace: harness.namespace, name: "e-service" });
    await eventually(() => uid() !== undefined && uid() !== deleted && harness.target("e") === 1);
    expect(harness.engine("e").status?.phase).toBe("draining");
    idle(harness);
    await harness.settled("e", 1);
  });

  test("scrape-through-api-server: with metricScrapeMode PodIP pods are scraped directly, and hold the drain too", async () => {
    await using harness = await openEngineHarness(plane, "podip");
    await harness.createInstance();
    const body = { spec: { metricScrapeMode: "PodIP" } };
    await harness.client.patch(
      FireboltInstance,
      { namespace: harness.namespace, name: "main" },
      { type: "merge", body },
    );
    const operator = await harness.operator();
    await harness.createEngine("e", { drainCheckInterval: "1s" });
    await harness.settled("e", 0);
    harness.queries(harness.pods("e", 0)[1], { running: 1 });
    const address = harness.pods("e", 0)[1]?.status?.podIP ?? "";
    const askedBefore = plane.metrics.asked(address);
    await harness.edit("e", image("two"));
    await eventually(() => plane.metrics.asked(address) >= askedBefore + 2);
    await harness.until("e", ({ status }) => status?.phase === "draining", "drains");
    idle(harness);
    await harness.settled("e", 1);
    expect(operator.requests.filter(({ resource }) => resource === "pods/proxy")).toEqual([]);
    expect(harness.broken()).toEqual([]);
  });
});
