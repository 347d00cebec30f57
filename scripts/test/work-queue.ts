// Which files are run together, and in which order they are handed out: the longest first, so that no lane is left alone with one at the end.
import type { Task, TestFile } from "./messages.ts";

/** Seconds of files that take much longer than others of their project, measured on two cores. */
export const SECONDS: Readonly<Record<string, number>> = {
  "test/cluster/zero-lost-queries.cluster.test.ts": 300,
  "test/cluster/quiet-engines.cluster.test.ts": 240,
  "test/docs/pages.cluster.test.ts": 200,
  "test/cluster/node-faults.cluster.test.ts": 120,
  "test/dev/playground.e2e.test.ts": 110,
  "test/wake/races.integration.test.ts": 100,
  "test/dev/playground-simulated.e2e.test.ts": 97,
  "test/engine/quiet.integration.test.ts": 91,
  "test/wake/faults.integration.test.ts": 90,
  "test/wake/demand.integration.test.ts": 84,
  "test/plugin/plan.integration.test.ts": 76,
  "test/engine/leaders.integration.test.ts": 67,
  "test/dev/playground-context.e2e.test.ts": 67,
  "test/chart/rbac.integration.test.ts": 58,
  "packages/kube/test/integration/leader-election.test.ts": 58,
  "test/operator/request-budget.integration.test.ts": 55,
  "test/instance/volumes.integration.test.ts": 55,
  "test/instance/losses.integration.test.ts": 55,
  "test/gateway/switch.integration.test.ts": 55,
  "test/instance/deletion.integration.test.ts": 53,
  "test/gateway/silent-clients.integration.test.ts": 53,
  "test/gateway/memory.integration.test.ts": 50,
  "test/model/engine-explorer.test.ts": 54,
};
const USUAL_SECONDS: Readonly<Record<string, number>> = { unit: 0.2, integration: 15, e2e: 30, cluster: 60 };
const KNOWN_SECONDS: ReadonlyMap<string, number> = new Map(Object.entries(SECONDS));
/**
 * Neither counts lost queries nor measures times: what these wait for may take as long as it takes, so they run beside the local cluster with
 * the processor time that it leaves.
 */
const BESIDE_CLUSTER: readonly string[] = ["test/admission/", "test/chart/", "test/crd/", "test/docs/", "test/plugin/"];

export function runsBesideCluster({ path, project }: TestFile): boolean {
  return project === "unit" || (project === "integration" && BESIDE_CLUSTER.some((area) => path.startsWith(area)));
}

/** A process for each of hundreds of files would cost more than the tests in them. */
const RUN_TOGETHER: ReadonlySet<string> = new Set(["unit"]);

/** How long the file takes, as far as is known. */
export function secondsOf({ path, project }: TestFile): number {
  return KNOWN_SECONDS.get(path) ?? USUAL_SECONDS[project] ?? 1;
}

/** The shortest files that fit into this time together, and those that do not. */
export function fitInto(
  budgetSeconds: number,
  files: readonly TestFile[],
): { readonly fit: readonly TestFile[]; readonly left: readonly TestFile[] } {
  const shortestFirst = files.toSorted(
    (one, other) => secondsOf(one) - secondsOf(other) || (one.path < other.path ? -1 : 1),
  );
  let total = 0;
  const isIn = (file: TestFile): boolean => {
    total += secondsOf(file);
    return total <= budgetSeconds;
  };
  const fit = shortestFirst.filter(isIn);
  return { fit, left: shortestFirst.slice(fit.length) };
}

/** One task per file, and one for all files of a project that are run together: those begin, because they fail fastest. */
export function planTasks(files: readonly TestFile[]): readonly Task[] {
  const byProject = Map.groupBy(files, ({ project }) => project);
  const together = [...byProject].filter(([project]) => RUN_TOGETHER.has(project));
  const single = files
    .filter(({ project }) => !RUN_TOGETHER.has(project))
    .toSorted((one, other) => secondsOf(other) - secondsOf(one) || (one.path < other.path ? -1 : 1));
  return [
    ...together.map(([project, own]) => ({ project, paths: own.map(({ path }) => path).sort() })),
    ...single.map(({ project, path }) => ({ project, paths: [path] })),
  ];
}

/** Hands every task out once. */
export class WorkQueue {
  readonly #waiting: Task[];
  readonly total: number;

  constructor(tasks: readonly Task[]) {
    this.#waiting = [...tasks];
    this.total = tasks.length;
  }

  take(): Task | undefined {
    return this.#waiting.shift();
  }
}
