// A fleet of engines on a real control plane: the cost of creating, rolling, keeping, stopping and deleting it,
// compared with the same objects created without an operator; and the behaviour at start, failover and outage. Prints
// tables and writes one JSON file.
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { measureFailOver } from "./fleet/failover.ts";
import { type Candidate, runFleet } from "./fleet/fleet-run.ts";
import { measureGateway } from "./fleet/gateway.ts";
import { measureLargeCluster } from "./fleet/large-cluster.ts";
import { DEFAULTS, type FleetOptions, type Measurement, parseFleetOptions, USAGE } from "./fleet/options.ts";
import { measureOutage } from "./fleet/outage.ts";
import { measureReactions } from "./fleet/reaction.ts";
import { measureSingleEngine } from "./fleet/single-engine.ts";
import { renderTable } from "./fleet/table.ts";

const RESULTS = join(import.meta.dirname, "results");
const say = (line: string): void => console.error(line);
const startedMs = performance.now();
const progress = (line: string): void =>
  say(`fleet ${((performance.now() - startedMs) / 1_000).toFixed(0).padStart(5)} s: ${line}`);

type Measure = (options: FleetOptions) => Promise<object>;

/** In the order of the report. */
const MEASUREMENTS: Readonly<Record<Measurement, Measure>> = {
  phases: measureAllPhases,
  single: ({ rounds }) => measureSingleEngine(progress, rounds ?? DEFAULTS.singleRounds),
  reaction: ({ engines }) => measureReactions(progress, engines[0] ?? DEFAULTS.reactionEngines),
  "fail-over": ({ rounds }) => measureFailOver(progress, rounds ?? DEFAULTS.failOverRounds),
  async outage({ engines, awaySeconds }) {
    const count = engines[0] ?? DEFAULTS.outageEngines;
    return {
      withLease: await measureOutage(progress, { engines: count, awaySeconds, lease: true }),
      withoutLease: await measureOutage(progress, { engines: count, awaySeconds, lease: false }),
    };
  },
  large: ({ engines, unrelated }) =>
    measureLargeCluster(progress, { engines: engines[0] ?? DEFAULTS.largeEngines, unrelated }),
  gateway: ({ rounds, seconds, connections }) =>
    measureGateway(progress, { rounds: rounds ?? DEFAULTS.gatewayRounds, seconds, connections }),
};

export async function run(args: readonly string[]): Promise<object> {
  const options = parseFleetOptions(args);
  if (options === "help") {
    say(USAGE);
    return {};
  }
  const machine = { cores: cpus().length, memoryGb: Math.round(totalmem() / 1e9), loadAverageBefore: loadavg()[0] };
  const figures: Record<string, object> = {};
  const out = options.out ?? join(RESULTS, `fleet-${options.measurements.join("-")}.json`);
  mkdirSync(dirname(out), { recursive: true });
  for (const name of options.measurements) {
    progress(`measuring ${name}`);
    const result = await MEASUREMENTS[name](options);
    figures[name] = result;
    if (name !== "phases") say(`${name}: ${JSON.stringify(result, undefined, 2)}`);
    // After each measurement: a later failure loses no figures.
    writeFileSync(out, `${JSON.stringify({ machine, ...figures }, undefined, 1)}\n`);
  }
  say(`all figures: ${out}`);
  return { machine, ...figures };
}

async function measureAllPhases({ engines, idleSeconds, others, own, flags, nodeArgs }: FleetOptions): Promise<object> {
  const ours: readonly Candidate[] = own ? [{ type: "own", options: { flags, nodeArgs } }] : [];
  const candidates: readonly Candidate[] = [...ours, ...others.map((command) => ({ type: "other", command }) as const)];
  const runs: object[] = [];
  for (const count of engines.length === 0 ? [DEFAULTS.engines] : engines)
    for (const candidate of candidates) {
      const result = await runFleet({ engines: count, idleSeconds, candidate, progress });
      say(`\n${renderTable(result)}\n`);
      runs.push(result);
    }
  return { runs };
}
