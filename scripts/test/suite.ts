// The whole suite: `npm test`. Files are handed out to lanes that work side by side, because most tests wait for most of their time. Every lane
// has a network of its own; lanes for the local cluster have a whole sandbox. First come the tests that time matters to, then the local cluster,
// with the rest beside it. All files run, so that one run shows all failures, and what a failed one printed is repeated at the end, where a log
// is read first.
//
//   scripts/test/suite.ts [--lanes N] [--cluster-lanes N] [--without PROJECT] [FILE ...]     FILE: a test file, or the beginning of paths; default all
import { execFile } from "node:child_process";
import { availableParallelism, freemem } from "node:os";
import { parseArgs, promisify } from "node:util";
import { countOf } from "./arguments.ts";
import { Lane, type Ran } from "./lane-process.ts";
import type { Task, TestFile } from "./messages.ts";
import { processorSeconds } from "./processor-time.ts";
import { slowestFiles, summarise } from "./summary.ts";
import { planTasks, runsBesideCluster, WorkQueue } from "./work-queue.ts";

/**
 * A lane uses half a core on average: its tests wait for servers, probes and clocks for the other half. With two lanes per core pods responded
 * seconds late.
 */
const LANES_PER_CORE = 1.5;
/** Two control planes, a name server, a gateway and the operator. */
const BYTES_PER_LANE = 1.5 * 2 ** 30;
const MOST_LANES = 8;
const CLUSTER_LANES = 1;
const KINDS = {
  network: { within: "dev/sandbox/network.sh", projects: ["unit", "integration", "e2e"], niceness: 5 },
  // Clients of a real node count lost queries there: it goes first.
  cluster: { within: "dev/sandbox/sandbox.sh", projects: ["cluster"], niceness: 0 },
  /** Tests that get the processor time which the cluster leaves. */
  beside: { within: "dev/sandbox/network.sh", projects: ["unit", "integration"], niceness: 19 },
} as const;
type Kind = keyof typeof KINDS;

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

function usualLanes(): number {
  const inMemory = Math.floor(freemem() / BYTES_PER_LANE);
  return Math.max(1, Math.min(Math.floor(LANES_PER_CORE * availableParallelism()), inMemory, MOST_LANES));
}

const { values, positionals } = parseArgs({
  options: { lanes: { type: "string" }, "cluster-lanes": { type: "string" }, without: { type: "string" } },
  allowPositionals: true,
});
const isWanted = ({ path, project }: TestFile): boolean =>
  project !== values.without &&
  (positionals.length === 0 || positionals.some((beginning) => path.startsWith(beginning)));
const lanesWanted = countOf(values.lanes, { name: "lanes", usual: usualLanes(), least: 1 });
// Without a cluster lane the tests on the local cluster are left out.
const clusterLanes = countOf(values["cluster-lanes"], { name: "cluster-lanes", usual: CLUSTER_LANES, least: 0 });
const counts: Readonly<Record<Kind, number>> = {
  network: lanesWanted,
  cluster: clusterLanes,
  beside: clusterLanes === 0 ? lanesWanted : Math.min(availableParallelism(), lanesWanted),
};
const isOf: Readonly<Record<Kind, (file: TestFile) => boolean>> = {
  network: (file) => !runsBesideCluster(file),
  cluster: () => true,
  beside: runsBesideCluster,
};
const startedMs = performance.now();
const elapsed = (): string => {
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
};

const lanes: Lane[] = [];
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => {
    // Ctrl-C in a terminal reaches the lanes too; a second one would mean "at once".
    if (signal === "SIGINT" && process.stdin.isTTY) return;
    for (const lane of lanes) lane.kill(signal);
  });

/** Once for all lanes: tests of the bundled programs find that it is done (test/harness/programs/operator-process.ts). */
async function buildPrograms(): Promise<void> {
  await promisify(execFile)(process.execPath, ["scripts/build.ts"]);
  process.env["FIREBOLT_TEST_BUILT"] = "1";
}

const ran: Ran[] = [];
const queues: WorkQueue[] = [];

function failedBecause(lane: Lane, task: Task, error: unknown): Ran {
  const output = [...lane.output, error instanceof Error ? error.message : String(error)];
  const files = task.paths.map((path) => ({ project: task.project, path, passed: false, tests: 0, seconds: 0 }));
  return { task, output, result: { passed: false, files, wallSeconds: 0, processorSeconds: 0 } };
}

/** Until the queue is empty, or the lane is gone. */
async function work(lane: Lane, queue: WorkQueue): Promise<void> {
  for (let task = queue.take(); task !== undefined; task = queue.take()) {
    const current = task;
    let isGone = false;
    const one = await lane.run(current).catch((error: unknown) => {
      isGone = true;
      return failedBecause(lane, current, error);
    });
    ran.push(one);
    const { passed, wallSeconds, processorSeconds: processor } = one.result;
    const what = current.paths.length === 1 ? current.paths.join() : `${current.paths.length} ${current.project} files`;
    const total = queues.reduce((sum, { total: own }) => sum + own, 0);
    say(
      `${passed ? "passed" : "FAILED"} ${ran.length}/${total} after ${elapsed()}: ${what} (${wallSeconds.toFixed(0)} s, processor ${processor.toFixed(0)} s)`,
    );
    if (isGone) return;
  }
}

/** Fails, with what the lane printed, if it cannot be started: without root there is no local cluster, and all other tests still run. */
async function filesOf(lane: Lane, kind: Kind): Promise<readonly TestFile[]> {
  try {
    return await lane.files;
  } catch (error) {
    ran.push(failedBecause(lane, { project: kind, paths: [`lane ${lane.name}`] }, error));
    return [];
  }
}

const LANE_PREFIX: Readonly<Record<Kind, string>> = { network: "", cluster: "c", beside: "b" };

/** All lanes of a kind take from one queue, which holds the files of their projects. */
async function runLanes(kind: Kind): Promise<void> {
  const own = Array.from({ length: counts[kind] }, (_, index) => {
    const name = `${LANE_PREFIX[kind]}${index + 1}`;
    return new Lane({ name, ...KINDS[kind] });
  });
  lanes.push(...own);
  const [first] = own;
  if (first === undefined) return;
  const queue = new WorkQueue(
    planTasks((await filesOf(first, kind)).filter((file) => isWanted(file) && isOf[kind](file))),
  );
  queues.push(queue);
  try {
    await Promise.all(
      own.map(async (lane) => {
        if (lane === first || (await filesOf(lane, kind)).length > 0) await work(lane, queue);
      }),
    );
    for (let task = queue.take(); task !== undefined; task = queue.take())
      ran.push(failedBecause(first, task, new Error("every lane has exited: it was not run")));
  } finally {
    await Promise.all(own.map((lane) => lane.end()));
  }
}

await buildPrograms();
// One after the other: clients count the queries that a real node loses, and a node that gets no processor time loses some.
await runLanes("network");
await Promise.all([runLanes("cluster"), runLanes("beside")]);
const failed = ran.filter(({ result }) => !result.passed);
for (const { task, output } of failed)
  say(
    `\nFAILED ${task.paths.length === 1 ? task.paths.join() : `${task.project} tests`}, which printed:\n${output.join("\n")}`,
  );
const totals = {
  wallSeconds: (performance.now() - startedMs) / 1000,
  processorSeconds: processorSeconds(process.pid),
  lanes: `${counts.network} lanes, ${counts.cluster} on clusters`,
};
say(`\n${slowestFiles(ran)}\n\n${summarise(ran, totals)}`);
say(failed.length === 0 ? `\nall passed after ${elapsed()}` : `\n${failed.length} FAILED after ${elapsed()}`);
process.exitCode = failed.length === 0 && ran.length > 0 ? 0 : (lanes.find((lane) => lane.exitCode > 0)?.exitCode ?? 1);
