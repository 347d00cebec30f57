// `npm run bench -- profile FILE ...`: summarizes a profile of the operator. A `.cpuprofile` is summed up by part of
// the program (the bundle is mapped back to its sources), a `.heapsnapshot` by type of object. Measures nothing itself:
// the files come from `npm run bench -- fleet` with --node-arg=--cpu-prof, or with
// --node-arg=--heapsnapshot-signal=SIGUSR2 and that signal, and the sources must still be those of the program that was
// profiled.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mapProgram, OPERATOR_BUNDLE, versionDefinitions } from "../dev/images/bundle.ts";
import { readSourceVersion } from "../dev/images/source-version.ts";
import { type CpuProfile, summarizeCpu } from "./profile/cpu-profile.ts";
import { type HeapSnapshot, summarizeHeap } from "./profile/heap-snapshot.ts";
import type { Share } from "./profile/shares.ts";

const ROOT = join(import.meta.dirname, "..");
const USAGE = "usage: npm run bench -- profile FILE.cpuprofile|FILE.heapsnapshot ...";

export async function run(files: readonly string[]): Promise<object> {
  const unknown = files.find((file) => !/\.(cpuprofile|heapsnapshot)$/.test(file));
  if (files.length === 0 || unknown !== undefined)
    throw new Error(unknown === undefined ? USAGE : `${unknown} is not a profile. ${USAGE}`);
  const define = versionDefinitions(readSourceVersion(ROOT));
  const sources = await mapProgram({ ...OPERATOR_BUNDLE, root: ROOT, define });
  const results: Record<string, object> = {};
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    const summary = file.endsWith(".cpuprofile")
      ? summarizeCpu(JSON.parse(text) as CpuProfile, sources)
      : summarizeHeap(JSON.parse(text) as HeapSnapshot);
    console.error(`\n${file}`);
    for (const [title, shares] of Object.entries(summary)) print(title, shares);
    results[file] = summary;
  }
  return { profiles: results };
}

function print(title: string, shares: readonly Share[]): void {
  const total = shares.reduce((sum, { amount }) => sum + amount, 0);
  console.error(`${title} (${total.toFixed(1)} in all)`);
  for (const { name, amount } of shares)
    console.error(`  ${amount.toFixed(2).padStart(7)}  ${((100 * amount) / total).toFixed(1).padStart(5)} %  ${name}`);
}
