// `npm start` step by step: when each of its progress lines came and when each pod was created, running and ready, over
// several runs with everything cached. Options: --runs N (3).
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { silentLogger } from "@firebolt-operator/kube";
import { createObjectCache } from "@firebolt-operator/kube/cache";
import { connect } from "../dev/deploy/connection.ts";
import { FOLDER_PREFIX } from "../dev/playground/state-file.ts";
import { pods } from "../src/engine/cluster/kinds.ts";
import { percentiles } from "./fleet/percentiles.ts";
import { podMoments } from "./node/pod-moments.ts";

const ROOT = join(import.meta.dirname, "..");
const POLL_MS = 20;

/** Seconds since the start of the command, by what happened then. */
type Steps = ReadonlyMap<string, number>;

export async function run(args: readonly string[]): Promise<object> {
  const { values } = parseArgs({ args: [...args], options: { runs: { type: "string", default: "3" } } });
  const all: Steps[] = [];
  for (let index = 1; index <= Number(values.runs); index++) {
    console.error(`run ${index} of ${values.runs}`);
    all.push(await startOnce());
  }
  const names = [...new Set(all.flatMap((steps) => [...steps.keys()]))];
  const rows = names
    .map((name) => ({ name, ...percentiles(all.flatMap((steps) => steps.get(name) ?? [])) }))
    .toSorted((one, other) => one.p50 - other.p50);
  for (const { name, min, p50, max } of rows)
    console.error(`${p50.toFixed(1).padStart(6)} s  (${min.toFixed(1)}–${max.toFixed(1)})  ${name}`);
  return { runs: all.length, p50Seconds: Object.fromEntries(rows.map(({ name, p50 }) => [name, p50])) };
}

async function startOnce(): Promise<Steps> {
  // Short: the paths of sockets below it have a limit of 104 characters.
  const folder = mkdtempSync(join(tmpdir(), "fb-"));
  const startedMs = performance.now();
  const steps = new Map<string, number>();
  const mark = (name: string): void => {
    if (!steps.has(name)) steps.set(name, (performance.now() - startedMs) / 1_000);
  };
  const ending = new AbortController();
  try {
    const child = spawn(process.execPath, ["dev/playground/start.ts", "--check"], {
      cwd: ROOT,
      // Its folder, and the kubeconfig in it, are made below this one.
      env: { ...process.env, TMPDIR: folder },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", resolve);
    });
    createInterface({ input: child.stderr }).on("line", (line) => mark(stepOf(line)));
    const output = text(child.stdout);
    const watching = watchPods(folder, mark, ending.signal);
    const code = await exited;
    ending.abort();
    await watching;
    if (code !== 0) throw new Error(`npm start -- --check exited with ${code}: ${await output}`);
    return steps;
  } finally {
    ending.abort();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The text of a progress line without its time, which this process measures itself, and without what differs per run. */
const stepOf = (line: string): string => line.replace(/^\s*[\d.]+ s\s+/, "").replace(/127\.0\.0\.1:\d+/, "127.0.0.1");

async function watchPods(folder: string, mark: (name: string) => void, signal: AbortSignal): Promise<void> {
  const kubeconfig = await untilWritten(folder, signal);
  if (kubeconfig === undefined) return;
  using cluster = await connect({ kubeconfig, signal });
  const cache = createObjectCache({ client: cluster.client, type: pods, logger: silentLogger });
  cache.onEvent(({ object }) => {
    for (const moment of podMoments(object)) mark(`pod ${nameOf(object.metadata?.name ?? "")} ${moment}`);
  });
  await cache.run(signal);
}

/** Pods of Deployments have names that differ from run to run. */
const nameOf = (pod: string): string => pod.replace(/-[a-z0-9]{8,10}-[a-z0-9]{5}$/, "-…");

async function untilWritten(folder: string, signal: AbortSignal): Promise<string | undefined> {
  while (!signal.aborted) {
    const own = readdirSync(folder).find((name) => name.startsWith(FOLDER_PREFIX));
    if (own !== undefined && readdirSync(join(folder, own)).includes("kubeconfig"))
      return join(folder, own, "kubeconfig");
    await sleep(POLL_MS);
  }
  return undefined;
}
