// A start with a large existing fleet, and again with thousands of unrelated Secrets and ConfigMaps: time to ready and
// to idle, requests, memory. Unrelated objects must not be held in memory.
import { setTimeout as sleep } from "node:timers/promises";
import { defineResource, type KubeObject } from "@firebolt-operator/kube";
import type { RequestCount } from "./audit-counter.ts";
import { createInstance, engineNames, inParallel, isReadyOn, openFleet } from "./engine-fleet.ts";
import { type Harness, openHarness, type Progress } from "./harness.ts";
import { startOwnOperator } from "./operator.ts";

export interface LargeStart {
  readonly readyMs: number;
  /** From the start of the process until it has reconciled everything: no processor time for a second. */
  readonly restMs: number;
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
  readonly rssMb: number;
  readonly anonymousMb: number;
  readonly requests: RequestCount;
  /** After another half minute without load. */
  readonly idle: {
    readonly seconds: number;
    readonly cpuSeconds: number;
    readonly rssMb: number;
    readonly requests: RequestCount;
  };
}

export interface LargeCluster {
  readonly engines: number;
  readonly unrelated: number;
  readonly alone: LargeStart;
  readonly withUnrelated: LargeStart;
}

const NAMESPACE = "unrelated";
const BATCH = 200;
const DATA_BYTES = 1_024;
const REST_MS = 1_000;
/** Lease renewals and timers continue while idle. */
const REST_CPU_SECONDS = 0.05;
const IDLE_SECONDS = 30;
const DEADLINE_MS = 300_000;

type WithData = KubeObject & { readonly data: Readonly<Record<string, string>> };
const KINDS = [
  defineResource<WithData>({ group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true }),
  defineResource<WithData>({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true }),
] as const;

export async function measureLargeCluster(
  progress: Progress,
  { engines, unrelated }: { readonly engines: number; readonly unrelated: number },
): Promise<LargeCluster> {
  await using harness = await openHarness({ progress });
  await fill(harness, engines);
  const alone = await measureStart(harness);
  progress(
    `${engines} engines: ready after ${alone.readyMs} ms, at rest after ${alone.restMs} ms, ${alone.peakRssMb} MB`,
  );
  await addUnrelated(harness, unrelated);
  const withUnrelated = await measureStart(harness);
  return { engines, unrelated, alone, withUnrelated };
}

/** Engines are created in batches, as in practice. */
async function fill(harness: Harness, engines: number): Promise<void> {
  await using operator = await startOwnOperator(harness);
  await operator.untilLeading();
  await createInstance(harness);
  await using fleet = await openFleet(harness);
  const names = engineNames(engines);
  for (let from = 0; from < engines; from += BATCH) {
    const batch = names.slice(from, from + BATCH);
    await fleet.create(batch);
    const describe = `Ready of the ${from + batch.length} first`;
    await fleet.until(batch, isReadyOn(0), { describe, timeoutMs: 900_000, assertRunning: operator.assertRunning });
    harness.progress(`${from + batch.length} of ${engines} engines created`);
  }
}

async function addUnrelated(harness: Harness, count: number): Promise<void> {
  await harness.createNamespace(NAMESPACE);
  const half = Math.ceil(count / 2);
  for (const type of KINDS) {
    const names = Array.from({ length: half }, (_, index) => `unrelated-${index}`);
    await inParallel(names, async (name) => {
      const text = name.padEnd(DATA_BYTES, "x");
      const data = { content: type.kind === "Secret" ? Buffer.from(text).toString("base64") : text };
      await harness.client.create(type, { metadata: { namespace: NAMESPACE, name }, data });
    });
    harness.progress(`${half} ${type.plural} added`);
  }
}

async function measureStart(harness: Harness): Promise<LargeStart> {
  harness.audit.take();
  const startedMs = performance.now();
  await using operator = await startOwnOperator(harness);
  await operator.untilLeading(DEADLINE_MS);
  const { meter } = operator;
  let restMs = 0;
  for (let before = -1; ; ) {
    const cpu = meter.cpuSeconds();
    if (before >= 0 && cpu - before <= REST_CPU_SECONDS) break;
    if (performance.now() - startedMs > DEADLINE_MS) throw new Error(`not idle within ${DEADLINE_MS} ms of the start`);
    before = cpu;
    restMs = Math.round(performance.now() - startedMs);
    await sleep(REST_MS);
  }
  const { peakRssMb, rssMb, anonymousMb } = meter.memory();
  const [cpuSeconds, requests] = [meter.cpuSeconds(), harness.audit.take()];
  await sleep(IDLE_SECONDS * 1_000);
  operator.assertRunning();
  const idleCpuSeconds = Math.round((meter.cpuSeconds() - cpuSeconds) * 100) / 100;
  return {
    readyMs: operator.readyMs ?? Number.NaN,
    restMs,
    cpuSeconds,
    peakRssMb,
    rssMb,
    anonymousMb,
    requests,
    idle: {
      seconds: IDLE_SECONDS,
      cpuSeconds: idleCpuSeconds,
      rssMb: meter.memory().rssMb,
      requests: harness.audit.take(),
    },
  };
}
