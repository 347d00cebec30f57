// The cost of the hold for queries that need none: the same load through two gateways in turn, one with the wake filter
// and one without, each measurement in a separate process. Compared within one run, because times differ between runs.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { WakeBench } from "./wake-bench.ts";

export interface HotPathOptions {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
}

interface Measured {
  readonly requests: number;
  readonly failed: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Slice extends Measured {
  /** Processor time of the gateway, and of the agent, while it was measured. */
  readonly envoyMs: number;
  readonly agentMs: number;
}

const LOAD = join(import.meta.dirname, "wake-load.ts");
const RPS_BUDGET = 0.95;
const P99_BUDGET = 1.1;

export async function measureHotPath(bench: WakeBench, options: HotPathOptions) {
  const { seconds, rounds, connections } = options;
  await bench.createRunning("hot");
  const measure = async (who: "plain" | "wake"): Promise<Slice> => {
    const port = who === "plain" ? bench.plainPort : bench.wakePort;
    const args = [LOAD, String(port), "hot", String(connections), String(seconds)];
    const before = { envoy: bench.cpuMs(who), agent: bench.cpuMs("agent") };
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: (seconds + 30) * 1_000 });
    const measured = JSON.parse(stdout) as Measured;
    return { ...measured, envoyMs: bench.cpuMs(who) - before.envoy, agentMs: bench.cpuMs("agent") - before.agent };
  };
  const plain: Slice[] = [];
  const held: Slice[] = [];
  // Both gateways resolve the engine before the measurement.
  for (const who of ["plain", "wake"] as const) await measure(who);
  for (let round = 0; round < rounds; round++) {
    // The order alternates, so that neither is always the second.
    const order = round % 2 === 0 ? ([plain, held] as const) : ([held, plain] as const);
    for (const list of order) list.push(await measure(list === plain ? "plain" : "wake"));
  }
  const without = merge(plain);
  const withHold = merge(held);
  const rpsRatio = withHold.rps / without.rps;
  const p99Ratio = withHold.p99Ms / without.p99Ms;
  return {
    connections,
    rounds,
    seconds,
    without,
    with: withHold,
    rpsRatio: Number(rpsRatio.toFixed(3)),
    p50Ratio: Number((withHold.p50Ms / without.p50Ms).toFixed(3)),
    p99Ratio: Number(p99Ratio.toFixed(3)),
    envoyCpuRatio: Number((withHold.envoyCpuUs / without.envoyCpuUs).toFixed(3)),
    withinBudget: rpsRatio >= RPS_BUDGET && p99Ratio <= P99_BUDGET,
  };
}

/** The median measurement, so that a disturbed round does not decide. */
function merge(measured: readonly Slice[]) {
  const sum = (of: (one: Slice) => number): number => measured.reduce((total, one) => total + of(one), 0);
  const requests = sum((one) => one.requests);
  const perRequestUs = (ms: number): number => Number(((ms * 1_000) / requests).toFixed(1));
  return {
    requests,
    failed: sum(({ failed }) => failed),
    rps: Math.round(median(measured.map(({ requests, elapsedMs }) => (requests / elapsedMs) * 1_000))),
    p50Ms: median(measured.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(measured.map(({ p99Ms }) => p99Ms)),
    // Per request: unlike rates, the same on a busy machine and on an idle one.
    envoyCpuUs: perRequestUs(sum(({ envoyMs }) => envoyMs)),
    agentCpuUs: perRequestUs(sum(({ agentMs }) => agentMs)),
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const pair = [sorted[Math.ceil(middle) - 1] ?? 0, sorted[Math.floor(middle)] ?? 0] as const;
  return Number(((pair[0] + pair[1]) / 2).toFixed(3));
}
