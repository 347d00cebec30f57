// Holding queries for stopped engines: how long a query is held until its engine is running, how many API requests a
// burst causes, and what the hold costs queries for running engines. Real Envoy, wake agent, operator and API server;
// simulated pods. Options: --seconds N per measurement (1), --rounds N (16), --connections N (32), --queries N in the
// burst (500), --engines N (50).
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const ROOT = join(import.meta.dirname, "..");

/** Below dev/sandbox/network.sh, because simulated pods have addresses only there. */
export async function run(args: readonly string[]): Promise<object> {
  const program = [process.execPath, join(import.meta.dirname, "processes/wake.ts"), ...args];
  const child = spawn(join(ROOT, "dev/sandbox/network.sh"), program, {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  const output = await text(child.stdout);
  const code = await ended;
  if (code !== 0) throw new Error(`the measuring process exited with ${code}`);
  const result: unknown = JSON.parse(output);
  if (typeof result !== "object" || result === null) throw new Error(`the measuring process printed ${output}`);
  return result;
}
