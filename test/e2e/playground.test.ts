// `npm start` on a real node, as a process: the whole platform comes up, queries are answered through the doors of the host, and nothing is
// left of it. Runs on the host's side; the node is on a private machine of its own.
import { afterEach, beforeEach, expect, test } from "vitest";
import { openPlaygroundLab, type PlaygroundLab } from "../support/playground-run.ts";

const isRoot = process.getuid?.() === 0;
const UP_MS = 280_000;

let lab: PlaygroundLab;
beforeEach(() => {
  lab = openPlaygroundLab();
});
afterEach(() => lab[Symbol.asyncDispose]());

test("--check brings a real cluster up, sends 50 queries and leaves nothing behind", async () => {
  const run = lab.npm(["start", "--", "--check"]);
  expect(await run.exit, run.stderr()).toBe(0);
  const report = run.report();
  console.log(JSON.stringify(report));
  expect(report).toMatchObject({
    ok: true,
    // Without root there is no real node, and it must say so.
    ...(isRoot ? { mode: "cluster" } : { mode: "simulated", fallback: expect.stringContaining("root") }),
    readySeconds: expect.any(Number),
    queriesSent: 50,
    queriesFailed: 0,
    failures: [],
  });
  expect(lab.clusters.size).toBe(isRoot ? 1 : 0);
  await lab.untilNothingIsLeft();
});

test("a terminal that is closed in the middle of the start ends everything", async () => {
  const run = lab.npm(["start"]);
  await run.said("starting the", UP_MS);
  // As the kernel does when the terminal goes away: to the whole process group.
  process.kill(-(run.child.pid ?? 0), "SIGHUP");
  await run.exit;
  await lab.untilNothingIsLeft();
});
