// Runs the suite again and again beside busy cores, and stops at the first failure with its log: `npm run test:repeat -- --runs 10 --busy 1`.
//
//   scripts/test/repeat.ts [--runs N] [--busy N] [FILE ...]     FILE: as for scripts/test/suite.ts, default all
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

const ROOT = join(import.meta.dirname, "../..");
const LOGS = join(ROOT, "node_modules/.vitest/repeat");
const SUITE = join(import.meta.dirname, "suite.ts");
/** Ends by itself when its owner is gone: the pipe to its standard input closes. */
const BUSY =
  'process.stdin.resume().once("end", () => process.exit()); const spin = () => { for (const end = Date.now() + 50; Date.now() < end; ); setImmediate(spin); }; spin();';
const SHOWN_LINES = 200;

const { values, positionals } = parseArgs({
  options: { runs: { type: "string", default: "10" }, busy: { type: "string", default: "0" } },
  allowPositionals: true,
});
const numberOf = (name: "runs" | "busy", least: number): number => {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= least) return number;
  throw new Error(
    `--${name}=${values[name]}: a whole number of at least ${least} is expected, e.g. --${name}=${least + 1}`,
  );
};
const [runs, busy] = [numberOf("runs", 1), numberOf("busy", 0)];
const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Its output goes to the log. */
async function runOnce(log: string): Promise<number> {
  const output = createWriteStream(log);
  await once(output, "open");
  const child = spawn(process.execPath, [SUITE, ...positionals], { cwd: ROOT, stdio: ["ignore", output, output] });
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, forward);
  const [code] = (await once(child, "exit")) as [number | null];
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(signal, forward);
  output.close();
  return code ?? 1;
}

mkdirSync(LOGS, { recursive: true });
const spinning = Array.from({ length: busy }, () =>
  spawn(process.execPath, ["-e", BUSY], { stdio: ["pipe", "ignore", "inherit"] }),
);
try {
  for (let run = 1; run <= runs; run += 1) {
    const log = join(LOGS, `run-${run}.log`);
    const startedMs = performance.now();
    const code = await runOnce(log);
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    say(
      `run ${run} of ${runs} beside ${busy} busy cores: ${code === 0 ? "passed" : `FAILED (exit ${code})`} after ${seconds} s, ${log}`,
    );
    if (code === 0) continue;
    say(`its last lines:\n${readFileSync(log, "utf8").trimEnd().split("\n").slice(-SHOWN_LINES).join("\n")}`);
    process.exitCode = code;
    break;
  }
} finally {
  for (const child of spinning) child.kill("SIGKILL");
}
