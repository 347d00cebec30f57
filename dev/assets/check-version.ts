// Asks a program that has just arrived for its version: what was fetched under a checksum may still be another release than the one pinned.
import type { Pin } from "./pins.ts";
import { runProgram } from "./run-program.ts";

const TIMEOUT_MS = 60_000;

export async function checkVersion(
  path: string,
  name: string,
  pin: Pick<Pin, "version" | "versionArgs">,
): Promise<void> {
  const output = await runProgram({ program: path, args: pin.versionArgs, timeoutMs: TIMEOUT_MS });
  const wanted = pin.version.replace(/^v/, "");
  const found = [...output.matchAll(/\d+\.\d+\.\d+[-+.\w]*/g)].map(([version]) => version);
  if (found.includes(wanted)) return;
  throw new Error(`${name} reports ${found.length === 0 ? "no version" : found.join(", ")} instead of ${wanted}`);
}
