// Every test file is handed out exactly once, whatever the order in which files are found, and long files do not come last.
import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { TestFile } from "./messages.ts";
import { fitInto, planTasks, runsBesideCluster, SECONDS, WorkQueue } from "./work-queue.ts";

const ROOT = join(import.meta.dirname, "../..");
const file = fc.record({
  // Names that every object has are names like any other.
  path: fc.oneof(fc.constantFrom(...Object.keys(SECONDS), "toString", "constructor", "__proto__"), fc.string()),
  project: fc.constantFrom("unit", "integration", "e2e"),
});
const files = fc.uniqueArray(file, { selector: ({ path }) => path });

test("every file is in one task, and the order of the input does not matter", () => {
  fc.assert(
    fc.property(files, (all) => {
      const tasks = planTasks(all);
      const planned = tasks.flatMap(({ project, paths }) => paths.map((path) => ({ project, path })));
      expect(planned.toSorted(byPath)).toEqual(all.toSorted(byPath));
      expect(planTasks(all.toReversed())).toEqual(tasks);
    }),
  );
});

test("unit tests are one task, which comes first; then the longest file", () => {
  const integration = ["short", ...Object.keys(SECONDS)].map((path) => ({ project: "integration", path }));
  const tasks = planTasks([...integration, { project: "unit", path: "b" }, { project: "unit", path: "a" }]);
  expect(tasks[0]).toEqual({ project: "unit", paths: ["a", "b"] });
  const longest = Math.max(...Object.values(SECONDS));
  expect(SECONDS[tasks[1]?.paths[0] ?? ""]).toBe(longest);
  expect(tasks.at(-1)?.paths).toEqual(["short"]);
});

test("files that fit into a time are the shortest, and all others are named", () => {
  fc.assert(
    fc.property(files, fc.integer({ min: 0, max: 300 }), (all, budget) => {
      const { fit, left } = fitInto(budget, all);
      expect([...fit, ...left].toSorted(byPath)).toEqual(all.toSorted(byPath));
    }),
  );
  const [short, long] = [
    { project: "integration", path: "short" },
    { project: "e2e", path: Object.keys(SECONDS)[0] ?? "" },
  ];
  expect(fitInto(20, [long, short])).toEqual({ fit: [short], left: [long] });
});

test("beside the cluster run unit tests and the areas that neither count queries nor measure times", () => {
  const paths = [
    "test/crd/x.integration.test.ts",
    "test/wake/x.integration.test.ts",
    "test/plugin/x.integration.test.ts",
  ];
  expect(paths.map((path) => runsBesideCluster({ project: "integration", path }))).toEqual([true, false, true]);
  expect(runsBesideCluster({ project: "unit", path: "src/x.test.ts" })).toBe(true);
  expect(runsBesideCluster({ project: "cluster", path: "test/docs/pages.cluster.test.ts" })).toBe(false);
});

test("a queue hands every task out once", () => {
  const tasks = ["a", "b"].map((path) => ({ project: "e2e", paths: [path] }));
  const queue = new WorkQueue(tasks);
  expect([queue.take(), queue.take(), queue.take(), queue.total]).toEqual([...tasks, undefined, 2]);
});

test.each(Object.keys(SECONDS))("%s exists", (path) => {
  expect(existsSync(join(ROOT, path))).toBe(true);
});

function byPath(one: TestFile, other: TestFile): number {
  return one.path < other.path ? -1 : 1;
}
