// The measurements of the wake benchmark, inside the private network. Prints one line of JSON.
import { parseArgs } from "node:util";
import { openWakeBench, type WakeBench } from "./wake-bench.ts";
import { measureHotPath } from "./wake-hot-path.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "1" },
    rounds: { type: "string", default: "16" },
    connections: { type: "string", default: "32" },
    queries: { type: "string", default: "500" },
    engines: { type: "string", default: "50" },
  },
});
const COLD_STARTS = 10;
const progress = (line: string): void => void process.stderr.write(`${line}\n`);

interface Burst {
  readonly sent: number;
  readonly failed: number;
  readonly holdMs: readonly number[];
}

/** One query at a time, each for an engine of its own that is stopped. */
async function coldStarts(bench: WakeBench): Promise<Burst> {
  const holdMs: number[] = [];
  let failed = 0;
  for (let index = 0; index < COLD_STARTS; index++) {
    await bench.createStopped([`cold${index}`]);
    const burst = await bench.query(`cold${index}`, 1);
    failed += burst.failed;
    holdMs.push(...burst.holdMs);
  }
  return { sent: COLD_STARTS, failed, holdMs };
}

async function burst(bench: WakeBench, queries: number) {
  await bench.createStopped(["burst"]);
  const before = bench.counts();
  const result = await bench.query("burst", queries);
  const after = bench.counts();
  const stamps = bench.stamps("burst");
  return {
    ...summary(result),
    stamps,
    apiRequests: {
      agent: after.agent - before.agent,
      operator: after.operator - before.operator,
    },
  };
}

async function manyEngines(bench: WakeBench, engines: number) {
  const names = Array.from({ length: engines }, (_, index) => `many${index}`);
  await bench.createStopped(names);
  const before = bench.counts();
  const results = await Promise.all(names.map((name) => bench.query(name, 1)));
  const after = bench.counts();
  const merged: Burst = {
    sent: results.reduce((sum, { sent }) => sum + sent, 0),
    failed: results.reduce((sum, { failed }) => sum + failed, 0),
    holdMs: results.flatMap(({ holdMs }) => holdMs),
  };
  return { engines, ...summary(merged), agentRequests: after.agent - before.agent };
}

function summary({ sent, failed, holdMs }: Burst) {
  const sorted = [...holdMs].sort((a, b) => a - b);
  const at = (q: number): number => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0);
  return { sent, failed, holdMs: { min: at(0), p50: at(0.5), p99: at(0.99), max: at(1) } };
}

await using bench = await openWakeBench(progress);
const atStart = bench.agentMemory();
// First, while both gateways know only this engine: every requested engine costs its gateway health checks for five
// minutes.
progress("a running engine, with and without the hold, in turn");
const hotPath = await measureHotPath(bench, {
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
  connections: Number(values.connections),
});
progress("cold starts, one query each");
const cold = summary(await coldStarts(bench));
progress(`${values.queries} queries at once for one stopped engine`);
const one = await burst(bench, Number(values.queries));
progress(`${values.engines} stopped engines at once`);
const many = await manyEngines(bench, Number(values.engines));
process.stdout.write(
  `${JSON.stringify({
    requests: { sent: cold.sent + one.sent + many.sent, failed: cold.failed + one.failed + many.failed },
    coldStart: cold,
    burst: one,
    manyEngines: many,
    hotPath,
    agentMemory: { atStart, atEnd: bench.agentMemory() },
  })}\n`,
);
