// Drains on a real control plane: the old generation goes when every Running pod has said that it runs no query, and not before. Pods
// are simulated; their metrics pages are served by the test and reached as in production, through the API server's pods/proxy.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINE_CONTRACT } from "../../src/api/engine-contract.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { pods, services } from "../../src/engine/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import type { MetricsAnswer } from "../harness/pods/engine-metrics-server.ts";
import { type EngineControlPlane, startEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineLab, image, openEngineLab, readyOf } from "./support/engine-harness.ts";
import { generationsOf } from "./support/history-views.ts";
import { recordingClock } from "./support/recording-clock.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await startEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

type OperatorOptions = Parameters<EngineLab["operator"]>[0];

/** A namespace with an operator and an engine `e`, at rest on generation 0. */
async function openLab(prefix: string, operator?: OperatorOptions): Promise<EngineLab> {
  const lab = await openEngineLab(plane, prefix);
  await lab.createInstance();
  await lab.operator(operator);
  await lab.createEngine("e", { drainCheckInterval: "1s" });
  await lab.settled("e", 0);
  return lab;
}

/** Rolls to generation 1, where generation 0 stays busy: the engine stops in `draining`. */
async function openDraining(
  prefix: string,
  answers: readonly MetricsAnswer[],
  operator?: OperatorOptions,
): Promise<EngineLab> {
  const lab = await openLab(prefix, operator);
  for (const [index, answer] of answers.entries()) lab.queries(lab.pods("e", 0)[index], answer);
  await lab.edit("e", image("two"));
  await lab.until("e", (e) => e.status?.phase === "draining", "drains");
  return lab;
}

const idle = (lab: EngineLab): void => {
  for (const pod of lab.pods("e", 0)) lab.queries(pod, {});
};

describe.concurrent("a drain", () => {
  test("edited-while-draining, drain-with-busy-pod, draining-kept-until-cleaning, one-rollout-at-a-time: one busy pod of two holds it; edits wait, and cost one bump afterwards", async () => {
    await using lab = await openDraining("drain-with-busy-pod", [{}, { running: 1 }]);
    await lab.edit("e", { replicas: 1 });
    await lab.edit("e", { replicas: 3 });
    const busy = lab.pods("e", 0)[1]?.status?.podIP ?? "";
    const before = plane.metrics.asked(busy);
    await eventually(() => plane.metrics.asked(busy) >= before + 3);
    expect(lab.engine("e").status).toMatchObject({ phase: "draining", currentGeneration: 1, drainingGeneration: 0 });
    expect(lab.pods("e", 0)).toHaveLength(2);
    idle(lab);
    await lab.settled("e", 2);
    expect(generationsOf(lab, "e")).toEqual([0, 1, 2]);
    expect(lab.broken()).toEqual([]);
  });

  test("drain-with-suspended-query: suspended queries alone hold it", async () => {
    await using lab = await openDraining("drain-with-suspended-query", [{ suspended: 2 }]);
    const address = lab.pods("e", 0)[0]?.status?.podIP ?? "";
    const askedBefore = plane.metrics.asked(address);
    await eventually(() => plane.metrics.asked(address) >= askedBefore + 2);
    expect(lab.engine("e").status?.phase).toBe("draining");
    idle(lab);
    await lab.settled("e", 1);
    expect(lab.broken()).toEqual([]);
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
      await using lab = await openDraining("drain-with-silent-pod", [{}, answer], { clock });
      const failing = await lab.until(
        "e",
        (e) => readyOf(e)?.reason === "DrainCheckFailing",
        "says that it cannot ask",
      );
      expect(readyOf(failing)).toMatchObject({ status: "False", message: expect.stringContaining("e-g0-1") });
      const address = lab.pods("e", 0)[1]?.status?.podIP ?? "";
      const [before, startedMs, delaysBefore] = [plane.metrics.asked(address), performance.now(), delaysMs.length];
      await eventually(() => plane.metrics.asked(address) >= before + 3);
      // Three more checks at an interval of 1 s: neither a hot loop nor a growing back-off.
      expect(performance.now() - startedMs).toBeGreaterThan(2_000);
      await eventually(() => delaysMs.slice(delaysBefore).filter((ms) => ms > 900).length >= 3);
      expect(Math.max(...delaysMs.slice(delaysBefore))).toBeLessThanOrEqual(1_000);
      idle(lab);
      await lab.settled("e", 1);
      expect(lab.broken()).toEqual([]);
    },
  );

  test("drain-with-pod-not-running: a pod that is not Running is not asked", async () => {
    await using lab = await openLab("drain-with-pod-not-running");
    const [pod] = lab.pods("e", 0);
    lab.queries(pod, { running: 5 });
    const askedBefore = plane.metrics.asked(pod?.status?.podIP ?? "");
    const patch = { type: "merge", body: { status: { phase: "Pending" } } } as const;
    await lab.client.patch(pods, { namespace: lab.namespace, name: pod?.metadata?.name ?? "" }, patch, {
      subresource: "status",
    });
    await lab.edit("e", image("two"));
    await lab.settled("e", 1);
    expect(plane.metrics.asked(pod?.status?.podIP ?? "")).toBe(askedBefore);
    expect(lab.broken()).toEqual([]);
  });

  test("stuck-drain-released: setting recreate releases a stuck drain, and rolls nothing by itself", async () => {
    await using lab = await openDraining("stuck-drain-released", [{ running: 1 }]);
    await lab.edit("e", { rollout: "recreate" });
    await lab.settled("e", 1);
    expect(generationsOf(lab, "e")).toEqual([0, 1]);
    expect(lab.broken()).toEqual([]);
  });

  test("instance-deleted-while-draining, rollout-ends-without-instance: an instance deleted on the way does not stop it; only at rest it is missed", async () => {
    await using lab = await openDraining("instance-deleted-while-draining", [{ running: 1 }]);
    await lab.client.delete(FireboltInstance, { namespace: lab.namespace, name: "main" });
    idle(lab);
    const resting = await lab.until("e", (e) => readyOf(e)?.reason === "InstanceNotReady", "misses its instance");
    expect(resting.status).toMatchObject({ phase: "stable", activeGeneration: 1 });
    expect(resting.status).not.toHaveProperty("drainingGeneration");
    await eventually(() => lab.statefulSet("e", 0) === undefined);
    expect(lab.broken()).toEqual([]);
  });

  test("routing-service-deleted-while-draining, routing-repaired-at-once: the routing Service deleted while draining comes back, selecting the new generation", async () => {
    await using lab = await openDraining("routing-service-deleted-while-draining", [{ running: 1 }]);
    const uid = () => lab.history.latest("Service", "e-service")?.metadata?.uid;
    const deleted = uid();
    await lab.client.delete(services, { namespace: lab.namespace, name: "e-service" });
    await eventually(() => uid() !== undefined && uid() !== deleted && lab.target("e") === 1);
    expect(lab.engine("e").status?.phase).toBe("draining");
    idle(lab);
    await lab.settled("e", 1);
  });

  test("scrape-through-api-server: with metricScrapeMode PodIP pods are asked directly, and hold the drain all the same", async () => {
    await using lab = await openEngineLab(plane, "podip");
    await lab.createInstance();
    const body = { spec: { metricScrapeMode: "PodIP" } };
    await lab.client.patch(FireboltInstance, { namespace: lab.namespace, name: "main" }, { type: "merge", body });
    const operator = await lab.operator();
    await lab.createEngine("e", { drainCheckInterval: "1s" });
    await lab.settled("e", 0);
    lab.queries(lab.pods("e", 0)[1], { running: 1 });
    const address = lab.pods("e", 0)[1]?.status?.podIP ?? "";
    const askedBefore = plane.metrics.asked(address);
    await lab.edit("e", image("two"));
    await eventually(() => plane.metrics.asked(address) >= askedBefore + 2);
    await lab.until("e", ({ status }) => status?.phase === "draining", "drains");
    idle(lab);
    await lab.settled("e", 1);
    expect(operator.requests.filter(({ resource }) => resource === "pods/proxy")).toEqual([]);
    expect(lab.broken()).toEqual([]);
  });
});
