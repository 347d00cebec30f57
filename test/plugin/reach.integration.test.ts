// The plugin's ways into the pods, as a process against a real control plane: logs, queries, forwarded ports.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import { openPluginHarness, type PluginHarness } from "./support/plugin-harness.ts";

let harness: PluginHarness;
beforeAll(async () => {
  harness = await openPluginHarness();
  const create = ["engine", "create", "--instance", "lakeside", "--bucket", "tables", "--timeout", "120s"];
  await harness.cluster.plugin([...create, "adhoc", "--replicas", "2"]);
  await harness.cluster.plugin([...create, "parked", "--replicas", "0"]);
  await harness.cluster.rested("adhoc");
}, 300_000);
afterAll(() => harness?.[Symbol.asyncDispose]());

describe("logs, queries and ports", () => {
  test("the logs of several pods come as one, in order of time", async () => {
    const generation = (await harness.engineOf("adhoc")).status?.activeGeneration ?? 0;
    harness.kubelet.say("engine", "2026-01-01T00:00:00Z", ["starting", "ready"]);
    const pods = [0, 1].map((index) => `adhoc-g${generation}-${index}`);
    expect((await harness.cluster.plugin(["logs", "adhoc"])).stdout).toBe(
      ["starting", "ready"].flatMap((line) => pods.map((pod) => `${pod}  ${line}\n`)).join(""),
    );
    expect((await harness.cluster.plugin(["engine", "logs", "adhoc", "--tail", "1", "--timestamps"])).stdout).toBe(
      pods.map((pod) => `${pod}  2026-01-01T00:00:01.000000000Z ready\n`).join(""),
    );
    expect(await harness.cluster.plugin(["logs", "adhoc", "--generation", "99"])).toMatchObject({
      code: 3,
      stderr: 'error: there are no pods of engine adhoc (generation 99) in namespace "analytics"\n',
    });
    harness.kubelet.say("metadata", "2026-01-01T00:00:00Z", ["catalog open"]);
    expect((await harness.cluster.plugin(["instance", "logs", "--component", "metadata"])).stdout).toBe(
      "catalog open\n",
    );
  });

  test("a query is sent through the gateway over a forwarded port", async () => {
    expect(await harness.cluster.plugin(["engine", "query", "adhoc", "SELECT 42"])).toEqual({
      code: 0,
      stdout: "adhoc: SELECT 42\n",
      stderr: "",
    });
  });

  test("--timeout 0 is no limit", async () => {
    const args = ["engine", "query", "adhoc", "SELECT 42", "--timeout", "0"];
    expect(await harness.cluster.plugin(args)).toEqual({ code: 0, stdout: "adhoc: SELECT 42\n", stderr: "" });
  });

  test.each([
    ["SELEC 1", 6, 'engine "adhoc" rejected the statement (400): {"errors":[{"description":"syntax error"}]}'],
    ["DRAINED", 1, "the gateway responded with 503: the engine is shutting down"],
    ["NOBODY", 1, "the gateway responded with 503: engine is not available; retry shortly"],
  ])(
    "a statement that the engine rejects is distinguished from an engine that does not exist: %s",
    async (statement, code, why) => {
      const stderr = `error: ${why}\n`;
      expect(await harness.cluster.plugin(["engine", "query", "adhoc", statement])).toEqual({
        code,
        stdout: "",
        stderr,
      });
    },
  );

  test("port-forward prints the address, serves, and exits on Ctrl+C", async () => {
    await using forwarding = harness.cluster.start(["instance", "port-forward"]);
    const text = await eventually(() => (forwarding.stdout().includes("Ctrl+C") ? forwarding.stdout() : false));
    const url = /^Forwarding on (http:\/\/localhost:\d+)\nCtrl\+C to stop\.\n$/.exec(text)?.[1] ?? "";
    const answer = await fetch(url.replace("localhost", "127.0.0.1"), {
      method: "POST",
      body: "x",
      signal: AbortSignal.timeout(60_000),
    });
    expect(await answer.text()).toBe("undefined: x\n");
    forwarding.interrupt();
    expect(await forwarding.exit).toMatchObject({ code: 130, stderr: "" });
  });

  test("without kubectl it reports what is missing", async () => {
    const result = await harness.cluster.plugin(["engine", "port-forward", "adhoc"], {
      env: { KUBECTL: "/nowhere/kubectl" },
    });
    expect(result).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: \/nowhere\/kubectl cannot be started.*needed to forward ports/),
    });
  });
});
