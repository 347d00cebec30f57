// `npm start` on a real node, as a process: the whole platform starts, queries succeed through forwarded ports of the
// host, and cleanup is complete. Runs on the host; the node runs in its own sandbox.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { queryRows } from "../../dev/deploy/query.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { openPlaygroundHarness, type PlaygroundHarness } from "./support/playground-harness.ts";

const isRoot = process.getuid?.() === 0;
const UP_MS = 280_000;

let harness: PlaygroundHarness;
beforeEach(() => {
  harness = openPlaygroundHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

test("--check brings a real cluster up, sends 50 queries and leaves nothing behind", async () => {
  const run = harness.npm(["start", "--", "--check"]);
  expect(await run.exit, run.stderr()).toBe(0);
  const report = run.report();
  console.log(JSON.stringify(report));
  expect(report).toMatchObject({
    ok: true,
    // Without root there is no real node, and the output must say so.
    ...(isRoot ? { mode: "cluster" } : { mode: "simulated", fallback: expect.stringContaining("root") }),
    readySeconds: expect.any(Number),
    queriesSent: 50,
    queriesFailed: 0,
    failures: [],
  });
  expect(harness.clusters.size).toBe(isRoot ? 1 : 0);
  await harness.untilNothingIsLeft();
});

test("the printed address keeps working when the gateway's Service gets another address", {
  timeout: 900_000,
}, async () => {
  const run = harness.npm(["start"]);
  const text = await run.said("Ctrl-C here", UP_MS);
  const exported = (name: string): string => new RegExp(`export ${name}=(\\S+)`).exec(text)?.[1] ?? "";
  const env = { ...process.env, KUBECONFIG: exported("KUBECONFIG") };
  const program = join(exported("PATH").replace(":$PATH", ""), "kubectl");
  const kubectl = (...args: readonly string[]): string =>
    execFileSync(program, ["-n", "analytics", ...args], { env, encoding: "utf8" });
  const address = (): string =>
    kubectl("get", "service", "lakeside-gateway", "--ignore-not-found", "-o", "jsonpath={.spec.clusterIP}");
  const gateway = /the gateway is at (\S+)/.exec(text)?.[1] ?? "";
  const sql = "SELECT 6 * 7";
  expect(await queryRows({ gateway, engine: "adhoc", sql })).toEqual([[42]]);
  const before = address();
  // As when the instance is deleted and created again. The operator puts it back, with an address of its own.
  kubectl("delete", "service", "lakeside-gateway");
  const patience = { timeoutMs: 240_000 };
  await eventually(() => !["", before].includes(address()), { ...patience, describe: "another Service" });
  await eventually(async () => expect(await queryRows({ gateway, engine: "adhoc", sql })).toEqual([[42]]), {
    ...patience,
    describe: "a response at the printed address",
  });
  expect(text).toContain("No image of Firebolt is used");
  expect(await harness.npm(["run", "stop"]).exit).toBe(0);
  await harness.untilNothingIsLeft();
});

test("a terminal that is closed in the middle of the start ends everything", async () => {
  const run = harness.npm(["start"]);
  await run.said("starting the", UP_MS);
  // As the kernel does when the terminal is closed: to the whole process group.
  process.kill(-(run.child.pid ?? 0), "SIGHUP");
  await run.exit;
  await harness.untilNothingIsLeft();
});
