// Queries for stopped engines. On a real node: how long a query, a new engine and a roll wait, part by part, compared
// with the start of the pod itself (--wakes N, --creations N, --rolls N, 50 each; --svg FILE draws the parts). With
// simulated pods: how many API requests a burst causes, and what the hold costs queries for running engines (--seconds N
// per measurement (1), --rounds N (16), --connections N (32), --queries N in the burst (500), --engines N (50)).
// `--only node` and `--only simulated` run one of the two; a real node needs root.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";

const ROOT = join(import.meta.dirname, "..");

/** Simulated pods have addresses only in this network, and a node runs only in this sandbox. */
const PARTS = {
  node: { sandbox: "sandbox.sh", program: "wake-node.ts", options: ["wakes", "creations", "rolls", "svg"] },
  simulated: {
    sandbox: "network.sh",
    program: "wake.ts",
    options: ["seconds", "rounds", "connections", "queries", "engines"],
  },
} as const;

type PartName = keyof typeof PARTS;
const NAMES = Object.keys(PARTS) as readonly PartName[];

export async function run(args: readonly string[]): Promise<object> {
  const known = ["only", ...NAMES.flatMap((name) => PARTS[name].options)];
  const options = Object.fromEntries(known.map((name) => [name, { type: "string" as const }]));
  const { values } = parseArgs({ args: [...args], options });
  const only = values["only"];
  const wanted = NAMES.filter((name) => only === undefined || name === only);
  if (wanted.length === 0) throw new Error(`--only ${only}: one of ${NAMES.join(", ")}`);
  const results: Record<string, object> = {};
  for (const name of wanted) {
    const given = PARTS[name].options.flatMap((option) => {
      const value = values[option];
      return value === undefined ? [] : [`--${option}=${value}`];
    });
    results[name] = await measure(name, given);
  }
  return results;
}

async function measure(name: PartName, args: readonly string[]): Promise<object> {
  const { sandbox, program } = PARTS[name];
  const command = [process.execPath, join(import.meta.dirname, "processes", program), ...args];
  const child = spawn(join(ROOT, "dev/sandbox", sandbox), command, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  const output = await text(child.stdout);
  const code = await ended;
  if (code !== 0) throw new Error(`the measuring process (${name}) exited with ${code}`);
  const result: unknown = JSON.parse(output);
  if (typeof result !== "object" || result === null) throw new Error(`the measuring process printed ${output}`);
  return result;
}
