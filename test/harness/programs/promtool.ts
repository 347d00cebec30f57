// Runs Prometheus's own promtool: it checks rules, and evaluates which alerts fire for the series of a test. A missing
// promtool is an error, never a skip.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { SYSTEM_PROGRAMS } from "../../../dev/assets/system/programs.ts";

const TIMEOUT_MS = 120_000;

export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly object[];
}

/** One evaluation of one alert: it fires with exactly these label sets; none means that it does not fire. */
export interface AlertTest {
  readonly alertname: string;
  readonly eval_time: string;
  readonly exp_alerts: readonly { readonly exp_labels: Readonly<Record<string, string>> }[];
}

export interface RuleTest {
  readonly name: string;
  readonly interval: string;
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly alert_rule_test: readonly AlertTest[];
}

/** Fails with promtool's message. */
export async function checkRules(groups: readonly RuleGroup[]): Promise<string> {
  return inFolder(async (folder) => {
    const file = join(folder, "rules.yaml");
    await writeFile(file, stringify({ groups }));
    return run(["check", "rules", file]);
  });
}

/** Fails with promtool's message unless every alert fires, or does not, as the tests expect. */
export async function testRules(groups: readonly RuleGroup[], tests: readonly RuleTest[]): Promise<string> {
  return inFolder(async (folder) => {
    await writeFile(join(folder, "rules.yaml"), stringify({ groups }));
    const file = join(folder, "tests.yaml");
    // No aliases: promtool reads plain YAML.
    await writeFile(file, stringify({ rule_files: ["rules.yaml"], tests }, { aliasDuplicateObjects: false }));
    return run(["test", "rules", file]);
  });
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "promtool-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function run(args: readonly string[]): Promise<string> {
  const program = SYSTEM_PROGRAMS["promtool"]?.find();
  if (program === undefined)
    throw new Error("promtool is missing: run `node dev/assets/system/main.ts promtool`, or name it in PROMTOOL");
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, { timeout: TIMEOUT_MS, maxBuffer: 16 << 20 });
    return `${stdout}${stderr}`;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const said = "stdout" in error && "stderr" in error ? `${error.stdout}${error.stderr}` : error.message;
    throw new Error(`promtool ${args.slice(0, 2).join(" ")} failed:\n${said}`, { cause: error });
  }
}
