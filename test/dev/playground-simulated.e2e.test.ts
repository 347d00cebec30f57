// `npm start` with simulated pods, as a process: the fallback, and everything about starting and stopping that is the same for every kind
// of playground.
import { execFileSync } from "node:child_process";
import { renderKubeconfig } from "@firebolt-operator/kube/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { queryRows } from "../../dev/deploy/query.ts";
import { openPlaygroundHarness, type PlaygroundHarness } from "./support/playground-harness.ts";

const UP_MS = 200_000;
const UP = "Ctrl-C here";

let harness: PlaygroundHarness;
beforeEach(() => {
  harness = openPlaygroundHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

function gatewayOf(text: string): string {
  return /the gateway is at (\S+)/.exec(text)?.[1] ?? "";
}

test("--simulated --check: 50 queries, one line of JSON, nothing left", async () => {
  const run = harness.npm(["start", "--", "--simulated", "--check"]);
  expect(await run.exit, run.stderr()).toBe(0);
  expect(run.report()).toMatchObject({ ok: true, mode: "simulated", queriesSent: 50, queriesFailed: 0, failures: [] });
  expect(run.report()).not.toHaveProperty("fallback");
  expect(run.stderr()).toContain("PODS ARE SIMULATED");
  await harness.untilNothingIsLeft();
});

test("without root it falls back to simulated pods and prints the reason", async () => {
  // Another user in a user namespace of its own: no rights over the machine, the same files.
  const launcher = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"];
  const run = harness.npm(["start", "--", "--check"], { launcher });
  expect(await run.exit, run.stderr()).toBe(0);
  expect(run.report()).toMatchObject({
    ok: true,
    mode: "simulated",
    fallback: "a local cluster needs root (sudo npm start)",
    queriesFailed: 0,
  });
  expect(run.stderr()).toContain("PODS ARE SIMULATED: a local cluster needs root");
  await harness.untilNothingIsLeft();
});

test("the printed commands work in another terminal; a second start is rejected; npm run stop stops the first", async () => {
  const run = harness.npm(["start", "--", "--simulated"]);
  const text = await run.said(UP, UP_MS);
  const exported = (name: string): string => new RegExp(`export ${name}=(\\S+)`).exec(text)?.[1] ?? "";
  const path = exported("PATH").replace(":$PATH", "");
  const env = { ...process.env, KUBECONFIG: exported("KUBECONFIG"), PATH: `${path}:${process.env["PATH"]}` };
  const kubectl = (...args: readonly string[]): string => execFileSync("kubectl", args, { env, encoding: "utf8" });
  expect(kubectl("get", "fireboltengines", "-n", "analytics", "-o", "name").split("\n")).toContain(
    "fireboltengine.compute.firebolt.io/adhoc",
  );
  expect(kubectl("firebolt", "status", "-n", "analytics")).toContain("generation 0 serves");

  const gateway = gatewayOf(text);
  expect(text).toContain(`curl -s ${gateway} `);
  expect(await queryRows({ gateway, engine: "reporting", sql: "SELECT 20 + 2" })).toEqual([[22]]);

  // What the text suggests: a query wakes a stopped engine.
  kubectl("firebolt", "stop", "reporting", "-n", "analytics", "--wait");
  expect(await queryRows({ gateway, engine: "reporting", sql: "SELECT 6 * 7" })).toEqual([[42]]);

  // As in the quickstart: the plugin finds the gateway, and pods have logs.
  const queried = kubectl("firebolt", "-n", "analytics", "engine", "query", "adhoc", "SELECT 6 * 7 AS answer");
  expect(queried).toContain('"data":[[42]]');
  expect(kubectl("firebolt", "-n", "analytics", "logs", "adhoc")).toContain('"message":"listening"');
  expect(kubectl("-n", "analytics", "logs", "deploy/lakeside-gateway", "-c", "wake-agent")).toContain('"level":"info"');
  expect(kubectl("-n", "analytics", "logs", "deploy/lakeside-metadata")).toContain("nothing runs in this container");

  const second = harness.npm(["start", "--", "--simulated"]);
  expect(await second.exit).toBe(1);
  expect(second.stderr()).toContain(`a playground is running already (process ${harness.state()?.pid}`);

  const stop = harness.npm(["run", "stop"]);
  expect(await stop.exit, stop.stderr()).toBe(0);
  expect(stop.stderr()).toContain("stopped after");
  expect(await run.exit, run.stderr()).toBe(0);
  await harness.untilNothingIsLeft();
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s in the middle of the start leaves nothing behind",
  async (signal) => {
    const run = harness.npm(["start", "--", "--simulated"]);
    await run.said("starting kube-apiserver", UP_MS);
    process.kill(-(run.child.pid ?? 0), signal);
    await run.exit;
    await harness.untilNothingIsLeft();
    expect(run.stderr()).toContain("stopping …");
  },
);

test("killed, it takes its processes with it, and npm run stop removes the rest", async () => {
  const run = harness.npm(["start", "--", "--simulated"]);
  await run.said(UP, UP_MS);
  const state = harness.state();
  if (state === undefined) throw new Error("a running playground has no state file");
  process.kill(state.pid, "SIGKILL");
  await run.exit;
  const stop = harness.npm(["run", "stop"]);
  expect(await stop.exit, stop.stderr()).toBe(0);
  expect(stop.stderr()).toContain(`cleaning up after a playground that was killed: ${state.folder}`);
  await harness.untilNothingIsLeft();
});

test.each([
  { args: ["--fly"], want: "Unknown option '--fly'" },
  { args: ["--image-engine", "a:1"], want: "--image-engine can be used with --context only" },
])("$args exits with 2 before anything is started", async ({ args, want }) => {
  const run = harness.npm(["start", "--", ...args]);
  expect(await run.exit).toBe(2);
  expect(run.stderr()).toContain(want);
  await harness.untilNothingIsLeft();
});

test("--help explains and starts nothing; npm run stop without a playground is content", async () => {
  const help = harness.npm(["start", "--", "--help"]);
  expect(await help.exit).toBe(0);
  expect(help.stdout()).toContain("npm start -- --check");
  const stop = harness.npm(["run", "stop"]);
  expect(await stop.exit).toBe(0);
  expect(stop.stderr()).toContain("no playground is running");
});

test("a context that does not exist is named", async () => {
  const credentials = { type: "token", token: "t" } as const;
  const text = renderKubeconfig({ url: "https://127.0.0.1:1", ca: "", user: "me", credentials });
  const KUBECONFIG = harness.write("kubeconfig", text);
  const run = harness.npm(["start", "--", "--context", "nowhere"], { env: { KUBECONFIG } });
  expect(await run.exit).toBe(1);
  expect(run.stderr()).toMatch(/context "?nowhere/);
  await harness.untilNothingIsLeft();
});
