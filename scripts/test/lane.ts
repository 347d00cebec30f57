// One lane of `npm test`: a Vitest in a network (or a sandbox) of its own that runs one task after the other, as the suite hands them out. What
// is shared between files (control planes, the local cluster) starts with the first file that needs it and ends with the lane.
//
//   scripts/test/lane.ts PROJECT [PROJECT ...]
import { constants } from "node:os";
import { join, relative } from "node:path";
import { createVitest, DefaultReporter, type TestModule, type TestSpecification, type Vitest } from "vitest/node";
import type { FileResult, FromLane, Task, TaskResult, ToLane } from "./messages.ts";
import { processorSeconds } from "./processor-time.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Prints files and failures as Vitest does; totals are the suite's. */
class LaneReporter extends DefaultReporter {
  override reportTestSummary(): void {
    // The suite reports totals.
  }
}

const send = (message: FromLane): void => {
  if (process.send === undefined) throw new Error("usage: a lane is started by scripts/test/suite.ts");
  process.send(message);
};
const pathOf = (moduleId: string): string => relative(ROOT, moduleId);

async function run(vitest: Vitest, all: readonly TestSpecification[], task: Task): Promise<TaskResult> {
  const wanted = new Set(task.paths);
  const isWanted = (project: string, moduleId: string): boolean =>
    project === task.project && wanted.has(pathOf(moduleId));
  const startedMs = performance.now();
  const startedSeconds = processorSeconds(process.pid);
  const specifications = all.filter(({ project, moduleId }) => isWanted(project.name, moduleId));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const files = testModules
    .filter(({ project, moduleId }) => isWanted(project.name, moduleId))
    .map((module) => resultOf(task.project, module));
  return {
    // A file that was not run has not passed.
    passed: unhandledErrors.length === 0 && files.length === wanted.size && files.every(({ passed }) => passed),
    files,
    wallSeconds: (performance.now() - startedMs) / 1000,
    processorSeconds: processorSeconds(process.pid) - startedSeconds,
  };
}

function resultOf(project: string, module: TestModule): FileResult {
  const { duration, setupDuration, collectDuration } = module.diagnostic();
  return {
    project,
    path: pathOf(module.moduleId),
    passed: module.ok() && module.state() === "passed",
    tests: [...module.children.allTests()].length,
    seconds: (duration + setupDuration + collectDuration) / 1000,
  };
}

const vitest = await createVitest({
  root: ROOT,
  watch: false,
  project: process.argv.slice(2),
  maxWorkers: 1,
  reporters: [new LaneReporter({ summary: false })],
});
const end = async (code: number): Promise<never> => {
  await vitest.cancelCurrentRun("keyboard-input");
  await vitest.close();
  process.exit(code);
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => void end(128 + constants.signals[signal]));
// The suite has exited: the results are not needed any more.
process.once("disconnect", () => void end(1));
await vitest.standalone();
const all = await vitest.globTestSpecifications();
process.on("message", (message: ToLane) => {
  if (message.type === "end") void end(0);
  else void run(vitest, all, message.task).then((result) => send({ type: "ran", result }));
});
send({
  type: "ready",
  files: all.map(({ project, moduleId }) => ({ project: project.name, path: pathOf(moduleId) })),
});
