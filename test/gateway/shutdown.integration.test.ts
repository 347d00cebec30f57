// A gateway pod that is replaced: the command of its preStop hook, then SIGTERM, while clients keep querying through two gateways
// as a Service would spread them.
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { startLoopback } from "@firebolt-operator/kube/testing";
import { expect, test } from "vitest";
import { renderPreStopCommand } from "../../src/gateway/pre-stop.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { startQueryLoad } from "../harness/envoy/query-load.ts";
import { type Gateway, openGatewayHarness } from "./support/gateway-harness.ts";

const PROBE_PERIOD_MS = 2_000;
const FAILURE_THRESHOLD = 2;
/** Ends what hangs. */
const DEADLINE_MS = 150_000;
/** Longer than it takes to leave the Service, and than most queries. */
const LONG_QUERY_MS = 14_000;

const health = async (gateway: Gateway, signal?: AbortSignal): Promise<number> =>
  (await fetch(`http://127.0.0.1:${gateway.metricsPort}/healthz`, signal === undefined ? {} : { signal })).status;

/** The kubelet's: a late response is as bad as a wrong one. */
async function probeSucceeds(gateway: Gateway): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_PERIOD_MS);
  try {
    return (await health(gateway, signal)) === 200;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** Resolves when the kubelet would call the pod not ready. */
async function untilNotReady(gateway: Gateway): Promise<void> {
  for (let failures = 0; failures < FAILURE_THRESHOLD; ) {
    await sleep(PROBE_PERIOD_MS);
    failures = (await probeSucceeds(gateway)) ? 0 : failures + 1;
  }
}

test("gateway-grace: a gateway terminates without interrupting a query", async () => {
  await using harness = await openGatewayHarness();
  const { client } = harness;
  const leaving = await harness.startGateway("leaving");
  harness.publish("e1", [await harness.startEngine({ engine: "e1" })]);
  let ports = [harness.clientPort, leaving.clientPort];
  let turn = 0;
  const load = startQueryLoad(client, {
    engine: "e1",
    clients: 8,
    port: () => ports[turn++ % ports.length] ?? harness.clientPort,
  });
  const sql = `SELECT sleep(${LONG_QUERY_MS})`;
  const long = client.query({ engine: "e1", sql, port: leaving.clientPort });
  await eventually(() => load.answered.length > 100);
  const active = (): Promise<number> => leaving.envoy.statistic("http.gateway.downstream_rq_active");
  await eventually(async () => (await active()) > 0);

  const [shell = "", ...args] = renderPreStopCommand(leaving.envoy.adminPort);
  const hook = promisify(execFile)(shell, args, { timeout: DEADLINE_MS });
  await eventually(async () => (await health(leaving)) === 503);
  expect((await fetch(`http://127.0.0.1:${leaving.clientPort}/healthz`)).status).toBe(503);
  expect(await health(harness)).toBe(200);
  await expectClosing(leaving);
  await untilNotReady(leaving);
  ports = [harness.clientPort];
  await hook;
  // By Envoy's own count: nothing was left to be cut.
  expect(await active()).toBe(0);
  await leaving.envoy.process.stop("SIGTERM");
  expect((await long).value).toBe(LONG_QUERY_MS);

  const { length } = load.answered;
  await eventually(() => load.answered.length > length + 100);
  await load.stop();
  console.log(`gateway-shutdown: ${client.sent} requests sent, ${client.failed} failed`);
  expect(client.failed).toBe(0);
});

/** Clients with persistent connections are asked to reconnect. */
async function expectClosing(gateway: Gateway): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${gateway.clientPort}/`, {
    method: "POST",
    body: "SELECT 1",
    headers: { "X-Firebolt-Engine": "e1" },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("connection")).toBe("close");
  await response.arrayBuffer();
}

test("the hook waits its time even when the administration cannot be reached", async () => {
  const [shell = "", ...args] = renderPreStopCommand(1);
  const startedMs = performance.now();
  // Fails unless the command exits with code 0. The trace shows the intended waiting time, independent of the machine.
  const { stderr } = await promisify(execFile)(shell, ["-x", ...args], { timeout: DEADLINE_MS });
  expect(performance.now() - startedMs).toBeGreaterThan(7_500);
  expect(stderr.split("\n").filter((line) => /^\++ sleep /.test(line))).toEqual(["+ sleep 8"]);
});

test("without queries the hook takes no longer than it takes to leave the Service", async () => {
  await using harness = await openGatewayHarness();
  await using admin = await startLoopback(async ({ method, url }, response) => {
    response.end(await (await fetch(`http://127.0.0.1:${harness.envoy.adminPort}${url}`, { method })).text());
  });
  const [shell = "", ...args] = renderPreStopCommand(admin.port);
  const { stderr } = await promisify(execFile)(shell, args, { timeout: DEADLINE_MS });
  expect(stderr).toBe("");
  // Asked once whether there are queries, it did not wait any longer.
  expect(admin.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
    "POST /healthcheck/fail",
    "GET /stats?filter=^http[.]gateway[.]downstream_rq_active$",
  ]);
  expect(await health(harness)).toBe(503);
});
