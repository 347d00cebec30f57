// Runs the given program (Vitest in a network sandbox) in two lanes in parallel, each with a share of the files: most tests wait, and one
// after the other they would leave the machine idle half of the time. Every output line starts with its lane. Both lanes run to completion, so
// that one run shows all failures, and the last lines of a failed lane are repeated at the end, where a log is read first.
//
//   scripts/test-lanes.ts PROGRAM [ARGUMENT ...]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { LANES } from "../test/harness/vitest/lane-sequencer.ts";

const ROOT = join(import.meta.dirname, "..");
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const REPEATED_LINES = 80;

const [program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error("usage: scripts/test-lanes.ts PROGRAM [ARGUMENT ...]");

function startLane(name: string, lane: number) {
  const child = spawn(name, [...args, `--shard=${lane}/${LANES}`], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: process.stdout.isTTY ? { ...process.env, FORCE_COLOR: "1" } : process.env,
  });
  const last: string[] = [];
  const copy = async (from: Readable, to: Writable): Promise<void> => {
    for await (const line of createInterface({ input: from })) {
      to.write(`${lane}│ ${line}\n`);
      if (last.push(line) > REPEATED_LINES) last.shift();
    }
  };
  return { child, last, copied: [copy(child.stdout, process.stdout), copy(child.stderr, process.stderr)] };
}

const lanes = Array.from({ length: LANES }, (_, index) => startLane(program, index + 1));
for (const signal of SIGNALS)
  process.on(signal, () => {
    // Ctrl-C in a terminal reaches the lanes too; a second one would mean "at once".
    if (signal === "SIGINT" && process.stdin.isTTY) return;
    for (const { child } of lanes) child.kill(signal);
  });
const codes = await Promise.all(
  lanes.map(async ({ child, copied }, index) => {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    await Promise.all(copied);
    const result = signal === null ? (code ?? 1) : 128 + constants.signals[signal];
    process.stderr.write(`lane ${index + 1} of ${LANES}: ${result === 0 ? "passed" : `FAILED (exit ${result})`}\n`);
    return result;
  }),
);
for (const [index, { last }] of lanes.entries())
  if (codes[index] !== 0)
    process.stderr.write(`\nlane ${index + 1} FAILED; its last lines again:\n${last.join("\n")}\n`);
process.exitCode = codes.find((code) => code !== 0) ?? 0;
