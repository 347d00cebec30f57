// The command line of the fleet benchmark. Parses only.
import { parseArgs } from "node:util";

const NAMES = ["phases", "single", "reaction", "fail-over", "outage", "large", "gateway"] as const;
export type Measurement = (typeof NAMES)[number];

/** Values of options that are not given. */
export const DEFAULTS = {
  engines: 200,
  singleRounds: 50,
  reactionEngines: 500,
  failOverRounds: 3,
  outageEngines: 200,
  largeEngines: 3_000,
  gatewayRounds: 8,
} as const;

export const USAGE = `usage: npm run bench -- fleet [MEASUREMENT ...] [options]

measurements (default: phases; "all" means every one):
  phases      create, roll, idle, stop, delete; with the floor of the same run
  single      one engine alone: create and roll without the pods' own time
  reaction    an instance gets ready, a class is edited, with ${DEFAULTS.reactionEngines} engines
  fail-over   two replicas, the leader ended by SIGKILL and by SIGTERM
  outage      the API server away for a minute, with and without a lease
  large       a start with ${DEFAULTS.largeEngines} engines, and with unrelated Secrets and ConfigMaps
  gateway     queries through the real Envoy configuration and through a bare one

options:
  --engines N[,N]   engines (phases: one run per number, default ${DEFAULTS.engines})
  --idle SECONDS    length of the idle phase (60)
  --operator CMD    also measure this program; may be repeated. It gets KUBECONFIG and POD_NAMESPACE
  --without-own     do not measure this operator
  --flag FLAG       an additional flag of this operator, after those of the chart; may be repeated
  --node-arg ARG    an additional argument of Node, such as --cpu-prof; may be repeated
  --rounds N        rounds of single (${DEFAULTS.singleRounds}), fail-over (${DEFAULTS.failOverRounds}) and gateway (${DEFAULTS.gatewayRounds})
  --away SECONDS    length of the outage (60)
  --unrelated N     Secrets and ConfigMaps of "large" together (20000)
  --seconds N, --connections N   one round of gateway (2, 32)
  --out FILE        file for the figures (bench/results/fleet-MEASUREMENT.json)`;

export interface FleetOptions {
  readonly measurements: readonly Measurement[];
  /** Empty: each measurement's own default. */
  readonly engines: readonly number[];
  readonly idleSeconds: number;
  readonly others: readonly string[];
  readonly own: boolean;
  readonly flags: readonly string[];
  readonly nodeArgs: readonly string[];
  readonly rounds: number | undefined;
  readonly awaySeconds: number;
  readonly unrelated: number;
  readonly seconds: number;
  readonly connections: number;
  readonly out: string | undefined;
}

export function parseFleetOptions(args: readonly string[]): FleetOptions | "help" {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: "boolean", default: false },
      engines: { type: "string", default: "" },
      idle: { type: "string", default: "60" },
      operator: { type: "string", multiple: true, default: [] },
      "without-own": { type: "boolean", default: false },
      flag: { type: "string", multiple: true, default: [] },
      "node-arg": { type: "string", multiple: true, default: [] },
      rounds: { type: "string", default: "" },
      away: { type: "string", default: "60" },
      unrelated: { type: "string", default: "20000" },
      seconds: { type: "string", default: "2" },
      connections: { type: "string", default: "32" },
      out: { type: "string", default: "" },
    },
  });
  if (values.help) return "help";
  return {
    measurements: measurementsOf(positionals),
    engines: values.engines === "" ? [] : values.engines.split(",").map((part) => positive("--engines", part)),
    idleSeconds: positive("--idle", values.idle),
    others: values.operator,
    own: !values["without-own"],
    flags: values.flag,
    nodeArgs: values["node-arg"],
    rounds: values.rounds === "" ? undefined : positive("--rounds", values.rounds),
    awaySeconds: positive("--away", values.away),
    unrelated: positive("--unrelated", values.unrelated),
    seconds: positive("--seconds", values.seconds),
    connections: positive("--connections", values.connections),
    out: values.out === "" ? undefined : values.out,
  };
}

function measurementsOf(words: readonly string[]): readonly Measurement[] {
  if (words.length === 0) return ["phases"];
  if (words.includes("all")) return NAMES;
  const unknown = words.find((word) => !NAMES.some((name) => name === word));
  if (unknown !== undefined) throw new TypeError(`unknown measurement ${JSON.stringify(unknown)}\n\n${USAGE}`);
  return NAMES.filter((name) => words.includes(name));
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0)
    throw new TypeError(`${option} must be a whole number above 0, got ${JSON.stringify(text)}`);
  return value;
}
