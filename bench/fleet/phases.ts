// The life of a fleet in five phases: create, roll, idle, stop, delete. Each is measured separately: wall time, and the
// CPU, memory and requests of the operator.
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { countEverybody, since } from "./all-requests.ts";
import type { Counts, RequestCount } from "./audit-counter.ts";
import { type EngineFleet, engineNames, image, isReadyOn, isStopped } from "./engine-fleet.ts";
import type { Harness } from "./harness.ts";
import type { Operator } from "./operator.ts";
import { meterProcess } from "./process-meter.ts";
import { untilQuiet } from "./until-quiet.ts";

export const PHASES = ["create", "roll", "idle", "stop", "delete"] as const;
export type Phase = (typeof PHASES)[number];

export interface PhaseResult {
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  /** Maximum during the phase. */
  readonly peakRssMb: number;
  /** Processor time of the control plane, by program, and of this harness. */
  readonly clusterCpuSeconds: Readonly<Record<string, number>>;
  /** At its end. */
  readonly rssMb: number;
  readonly anonymousMb: number;
  readonly requests: RequestCount;
  /** Of all clients, the operator included, as the API server counts them. */
  readonly requestsOfAll: Counts;
  /** Of the whole machine, one minute, at the phase's end. */
  readonly loadAverage: number;
}

export interface PhasesOptions {
  readonly engines: number;
  readonly idleSeconds: number;
}

export async function measurePhases(
  harness: Harness,
  { operator, fleet }: { readonly operator: Operator; readonly fleet: EngineFleet },
  options: PhasesOptions,
): Promise<Readonly<Record<Phase, PhaseResult>>> {
  const { progress } = harness;
  const names = engineNames(options.engines);
  const timeoutMs = 120_000 + options.engines * 3_000;
  const awaited = (describe: string) => ({ describe, timeoutMs, assertRunning: operator.assertRunning });
  const actions: Readonly<Record<Phase, () => Promise<void>>> = {
    async create() {
      await fleet.create(names);
      await fleet.until(names, isReadyOn(0), awaited("Ready"));
    },
    async roll() {
      await fleet.edit(names, image("next"));
      await fleet.until(names, isReadyOn(1), awaited("on the next generation"));
    },
    async idle() {
      await sleep(options.idleSeconds * 1_000);
    },
    async stop() {
      await fleet.edit(names, { replicas: 0 });
      await fleet.until(names, isStopped, awaited("stopped"));
    },
    async delete() {
      await fleet.remove(names);
      await fleet.untilGone(names, awaited("gone"));
    },
  };
  const results: Partial<Record<Phase, PhaseResult>> = {};
  for (const phase of PHASES) {
    const result = await measure(harness, operator, actions[phase], phase === "idle" ? "at once" : "until quiet");
    progress(
      `${phase}: ${result.wallSeconds.toFixed(1)} s, CPU ${result.cpuSeconds.toFixed(2)} s, peak ${result.peakRssMb} MB`,
    );
    results[phase] = result;
  }
  return results as Record<Phase, PhaseResult>;
}

/** The wall time covers the action; processor time and requests include the work right after it. */
export async function measure(
  harness: Harness,
  { meter, assertRunning }: Operator,
  action: () => Promise<void>,
  settle: "until quiet" | "at once" = "until quiet",
): Promise<PhaseResult> {
  assertRunning();
  harness.audit.take();
  const asked = await countEverybody(harness);
  meter.resetPeak();
  const cpuBefore = meter.cpuSeconds();
  const clusterBefore = clusterCpu(harness);
  const startedMs = performance.now();
  await action();
  const wallSeconds = Math.round(performance.now() - startedMs) / 1_000;
  const requests = settle === "at once" ? harness.audit.take() : await untilQuiet(harness);
  assertRunning();
  const { peakRssMb, rssMb, anonymousMb } = meter.memory();
  const result = {
    wallSeconds,
    cpuSeconds: hundredths(meter.cpuSeconds() - cpuBefore),
    clusterCpuSeconds: Object.fromEntries(
      Object.entries(clusterCpu(harness)).map(([name, seconds]) => [
        name,
        hundredths(seconds - (clusterBefore[name] ?? 0)),
      ]),
    ),
    peakRssMb,
    rssMb,
    anonymousMb,
    requests,
    loadAverage: hundredths(loadavg()[0] ?? 0),
  };
  // Last, because reading the counters costs the API server time.
  return { ...result, requestsOfAll: since(asked, await countEverybody(harness)) };
}

function clusterCpu({ plane }: Harness): Readonly<Record<string, number>> {
  const processes = { ...plane.processes, harness: process.pid };
  return Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, meterProcess(pid).cpuSeconds()]));
}

const hundredths = (value: number): number => Math.round(value * 100) / 100;
