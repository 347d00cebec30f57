// `npm run mutants [-- PART ...]`: puts each mutant into a copy of the sources, runs the one test that must notice, and
// demands that it fails for the right reason. PART selects mutants by a part of their name or file. The sources
// themselves are never touched. Ends with 1 when a mutant survives or cannot be applied.
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { FEATURE_MUTANTS } from "./feature-mutants.ts";
import { GATEWAY_MUTANTS } from "./gateway-mutants.ts";
import { KUBE_MUTANTS } from "./kube-mutants.ts";
import { MUTANTS } from "./manifest.ts";
import type { Mutant } from "./mutant.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const COPIED = ["src", "packages", "dev/control-plane", "test", "package.json", "tsconfig.json", "vitest.config.ts"];
/** Ends what hangs; the longest exploration takes a minute and a half on a busy machine. */
const TIME_LIMIT_MS = 240_000;
const WORKERS = 2;
const WORKSPACE = "@firebolt-operator";

type Verdict =
  | { readonly type: "killed"; readonly seconds: number }
  | { readonly type: "survived" | "broken"; readonly detail: string };

const wanted = process.argv.slice(2);
const chosen = [...MUTANTS, ...KUBE_MUTANTS, ...FEATURE_MUTANTS, ...GATEWAY_MUTANTS].filter(
  (mutant) => wanted.length === 0 || wanted.some((part) => mutant.name.includes(part) || mutant.file.includes(part)),
);
const waiting = [...chosen];
const startedMs = performance.now();
let failures = 0;

if (chosen.length === 0) {
  console.error(`no mutant has ${wanted.map((part) => JSON.stringify(part)).join(" or ")} in its name or file`);
  process.exit(1);
}
await Promise.all(Array.from({ length: WORKERS }, work));
const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
console.info(`${chosen.length - failures} of ${chosen.length} mutants killed in ${minutes} min`);
process.exit(failures === 0 ? 0 : 1);

/** One worker has one copy, in which there is one mutant at a time. */
async function work(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "mutants-"));
  try {
    for (const path of COPIED) await cp(join(ROOT, path), join(folder, path), { recursive: true });
    await linkPackages(folder);
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift())
      tell(mutant, await judge(mutant, folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The installed packages as they are, and those of the workspace from the copy: a mutant in one of them is met by its
 * users too.
 */
async function linkPackages(folder: string): Promise<void> {
  const [from, to] = [join(ROOT, "node_modules"), join(folder, "node_modules")];
  await mkdir(join(to, WORKSPACE), { recursive: true });
  for (const name of await readdir(from)) if (name !== WORKSPACE) await symlink(join(from, name), join(to, name));
  for (const name of await readdir(join(folder, "packages")))
    await symlink(join(folder, "packages", name), join(to, WORKSPACE, name));
}

function tell(mutant: Mutant, verdict: Verdict): void {
  const { name } = mutant;
  if (verdict.type === "killed") {
    console.info(`killed    ${name} (${verdict.seconds.toFixed(1)} s)`);
    return;
  }
  failures += 1;
  console.error(`${verdict.type.toUpperCase().padEnd(9)} ${name} [${mutant.file}]\n${verdict.detail}`);
}

async function judge(mutant: Mutant, folder: string): Promise<Verdict> {
  const path = join(folder, mutant.file);
  const original = await readFile(path, "utf8");
  const occurrences = original.split(mutant.find).length - 1;
  if (occurrences !== 1) return { type: "broken", detail: `the text to replace occurs ${occurrences} times` };
  await writeFile(
    path,
    original.replace(mutant.find, () => mutant.replace),
  );
  try {
    const startedMs = performance.now();
    const { code, output } = await runTest(mutant, folder);
    const { test, reason } = mutant.killedBy;
    if (code === 0) return { type: "survived", detail: `${test} passes` };
    if (!output.includes(reason)) return { type: "survived", detail: `no "${reason}" in:\n${failuresIn(output)}` };
    return { type: "killed", seconds: (performance.now() - startedMs) / 1000 };
  } finally {
    await writeFile(path, original);
  }
}

/** Without the list of all tests, which may be long. */
function failuresIn(output: string): string {
  const start = Math.max(0, output.indexOf("Failed Tests"));
  return output.slice(start, start + 4_000);
}

/** Vitest takes a pattern; names hold brackets and dots. */
function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** A small bound is enough: the shortest story to a broken guard is short. */
function runTest(
  { killedBy }: Mutant,
  folder: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{
    readonly code: number | null;
    readonly output: string;
  }>();
  const args = ["run", "--project", "unit", killedBy.file, "-t", literal(killedBy.test), "--no-color"];
  const child = spawn(process.execPath, [join(folder, "node_modules", "vitest", "vitest.mjs"), ...args], {
    cwd: folder,
    env: { ...process.env, EXPLORE_STATES: "150000" },
    timeout: TIME_LIMIT_MS,
  });
  let output = "";
  const collect = (chunk: Buffer) => {
    output += chunk.toString("utf8");
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  child.once("error", reject);
  child.once("close", (code) => resolve({ code, output: stripVTControlCharacters(output) }));
  return promise;
}
