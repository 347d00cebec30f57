// The stand-in engine as a process: the contract that the operator and the gateway rely on.
import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { openWorkspace, type Workspace } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINE_CONTRACT } from "../../src/api/engine-contract.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import {
  renderEngineConfig,
  type StandInEngine,
  type StandInEngineOptions,
  startStandInEngine,
} from "../harness/pods/stand-in-engine.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

let workspace: Workspace;
const network = `127.${randomInt(16, 250)}.${randomInt(0, 250)}`;
let lastHost = 0;

beforeAll(() => {
  workspace = openWorkspace("engine-");
});
afterAll(() => workspace.close());

const start = (engine: string, options: Partial<StandInEngineOptions> = {}): Promise<StandInEngine> =>
  startStandInEngine(workspace, { engine, namespace: "ns1", address: `${network}.${++lastHost}`, ...options });

const query = (engine: StandInEngine, sql: string, path = "/"): Promise<Response> =>
  fetch(`http://${engine.address}:3473${path}`, { method: "POST", body: sql, signal: AbortSignal.timeout(150_000) });

const metrics = async (engine: StandInEngine): Promise<string> => (await engine.get(9090, "/metrics")).text();

const ended = (engine: StandInEngine): Promise<string> => eventually(() => engine.process.ending() ?? false);

describe("queries", () => {
  let engine: StandInEngine;
  beforeAll(async () => {
    engine = await start("e1", { generation: 3 });
  });

  test("are computed and return rows", async () => {
    expect(await (await query(engine, "SELECT 42")).json()).toMatchObject({ data: [[42]], rows: 1 });
    const sum = await query(engine, "SELECT sum(value) AS total FROM generate_series(1, 100)");
    expect(await sum.json()).toMatchObject({ meta: [{ name: "total", type: "long" }], data: [[5050]], rows: 1 });
    const identity = ["e1-g3-0", "3", expect.stringMatching(/^[0-9a-f]{16}$/)];
    expect(await (await query(engine, "SELECT whoami()")).json()).toMatchObject({ data: [identity] });
  });

  test.each([
    { name: "an unknown setting", sql: "SELECT 1", path: "/?engine=e1", want: 400 },
    { name: "a known setting", sql: "SELECT 1", path: "/?output_format=JSON_Compact", want: 200 },
    { name: "a wrong statement", sql: "SELEC 1", path: "/", want: 400 },
    { name: "another page", sql: "SELECT 1", path: "/other", want: 404 },
  ])("$name: $want", async ({ sql, path, want }) => {
    expect((await query(engine, sql, path)).status).toBe(want);
  });

  test("that are not SQL are rejected with the database's message", async () => {
    const answer = await query(engine, "SELECT now()");
    expect(await answer.json()).toEqual({ errors: [{ description: "no such function: now" }] });
  });

  test("are counted while they run", async () => {
    const counted = (count: number) =>
      eventually(async () =>
        expect(await metrics(engine)).toMatch(
          new RegExp(`${GAUGE.running} ${count}\\n(.*\\n)*${GAUGE.suspended} ${count}$`, "m"),
        ),
      );
    const both = (ms: number) => [query(engine, `SELECT sleep(${ms})`), query(engine, `SELECT suspend(${ms})`)];
    const long = both(60_000);
    await counted(1);
    for (const answer of await Promise.all(both(1))) expect(answer.status).toBe(200);
    await counted(1);
    await engine.control("/test/finish");
    for (const answer of await Promise.all(long)) expect(answer.status).toBe(200);
    await counted(0);
  });

  test("leave when their client leaves", async () => {
    const gone = new AbortController();
    const answer = fetch(`http://${engine.address}:3473/`, {
      method: "POST",
      body: "SELECT sleep(60000)",
      signal: gone.signal,
    });
    await eventually(async () => (await metrics(engine)).includes(`${GAUGE.running} 1`));
    gone.abort();
    await expect(answer).rejects.toThrow();
    await eventually(async () => (await metrics(engine)).includes(`${GAUGE.running} 0`));
  });

  test("metrics can be made to fail in every way", async () => {
    await engine.control("/test/metrics?mode=error");
    expect((await engine.get(9090, "/metrics")).status).toBe(500);
    await engine.control("/test/metrics?mode=missing");
    expect(await metrics(engine)).not.toContain("running");
    await engine.control("/test/metrics?mode=ok");
    await engine.control("/test/gauge?running=5&suspended=2");
    expect(await metrics(engine)).toMatch(new RegExp(`${GAUGE.running} 5\\n(.*\\n)*${GAUGE.suspended} 2$`, "m"));
  });
});

describe("the end", () => {
  test("accepted queries finish, new ones are rejected with the drained header, then the process exits", async () => {
    const engine = await start("term");
    const accepted = query(engine, "SELECT sleep(60000)");
    await eventually(async () => (await metrics(engine)).includes(`${GAUGE.running} 1`));
    const stopped = engine.process.stop("SIGTERM");
    await eventually(async () => (await engine.get(8122, "/health/ready")).status === 503);
    expect((await engine.get(3473, "/health/ready")).status).toBe(503);
    expect((await engine.get(8122, "/health/live")).status).toBe(200);
    const refused = await query(engine, "INSERT marker('never')");
    expect(refused.status).toBe(503);
    expect(refused.headers.has("x-firebolt-drained")).toBe(true);
    expect(refused.headers.get("connection")).toBe("close");
    await engine.control("/test/finish");
    const answer = await accepted;
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ data: [[60_000]] });
    await stopped;
    expect(engine.process.ending()).toBe("exited with code 0");
    expect(engine.markers()).toEqual([]);
  });

  test("queries past the period are killed with an error in a 200", async () => {
    const engine = await start("kill", { terminationGracePeriod: "1s" });
    const accepted = query(engine, "SELECT sleep(60000)");
    await eventually(async () => (await metrics(engine)).includes(`${GAUGE.running} 1`));
    await engine.process.stop("SIGTERM");
    const answer = await accepted;
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("errors");
    expect(engine.process.ending()).toBe("exited with code 0");
  });

  test.each([
    {
      name: "a crash",
      options: {},
      run: (engine: StandInEngine) => engine.control("/test/crash").catch(() => undefined),
    },
    {
      name: "a set time",
      options: { env: { FAKE_EXIT_AFTER_MS: "300" }, waitUntilReady: false },
      run: async () => undefined,
    },
  ])("with an error: $name", async ({ options, run }) => {
    const engine = await start(`crash${lastHost}`, options);
    await run(engine);
    expect(await ended(engine)).toBe("exited with code 1");
    expect(engine.process.logTail()).toContain('"message":"ready"');
  });

  test("a configuration with an unknown key ends it at once", async () => {
    const config = { ...renderEngineConfig({ engine: "bad", namespace: "ns1", address: "" }), surprise: true };
    const engine = await start("bad", { config, waitUntilReady: false });
    expect(await ended(engine)).toBe("exited with code 1");
    expect(engine.process.logTail()).toContain("unknown key surprise");
  });
});

describe("readiness", () => {
  test("never becomes ready when configured so", async () => {
    const engine = await start("never", { env: { FAKE_NEVER_READY: "1" }, waitUntilReady: false });
    await eventually(async () => (await engine.get(8122, "/health/live")).status === 200);
    expect((await engine.get(8122, "/health/ready")).status).toBe(503);
    await engine.control("/test/ready?v=1");
    expect((await engine.get(8122, "/health/ready")).status).toBe(200);
  });

  test("waits for the metadata service", async () => {
    const address = `${network}.${++lastHost}`;
    const config = { ...renderEngineConfig({ engine: "meta", namespace: "ns1", address }) };
    Object.assign(config, {
      instance: { id: "01ARZ3", type: "multi_engine", multi_engine: { metadata_endpoint: `${address}:7000` } },
    });
    const engine = await start("meta", { config, waitUntilReady: false, env: { FAKE_IGNORE_METADATA: "0" } });
    await eventually(async () => (await engine.get(8122, "/health/ready")).status === 503);
    const metadata = createServer((socket) => socket.destroy()).listen(7000, address);
    try {
      await eventually(async () => (await engine.get(8122, "/health/ready")).status === 200);
    } finally {
      metadata.close();
    }
  });
});
