// When a running gateway sends a query again, and when it must not: a query that may have reached an engine runs at most once.
import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { startProcess } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ENGINE_CONTRACT } from "../../src/api/engine-contract.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import type { StandInEngine } from "../harness/pods/stand-in-engine.ts";
import { type GatewayHarness, openGatewayHarness, RETRIES } from "./support/gateway-harness.ts";

const CONCURRENT = 20;
/** More than two seconds of a busy engine. */
const MANY = 500;
const MEBIBYTE = 1024 * 1024;

let harness: GatewayHarness;
let pods: readonly [StandInEngine, StandInEngine];
let lastMarker = 0;

beforeAll(async () => {
  harness = await openGatewayHarness();
  pods = [
    await harness.startEngine({ engine: "e1" }),
    await harness.startEngine({ engine: "e1", index: 1, replicas: 2 }),
  ];
  harness.publish("e1", pods);
  await harness.client.query({ engine: "e1" });
});
afterAll(async () => {
  console.log(
    `gateway retries: ${harness.client.sent} requests sent, ${harness.client.failed} failed, ${lastMarker} markers`,
  );
  expect(harness.client.failed).toBe(0);
  await harness[Symbol.asyncDispose]();
});

const retries = (): Promise<number> => harness.envoy.statistic(RETRIES);
const nextMarker = (): string => `m${++lastMarker}`;

/** How often each of these markers ran, over all pods. */
function runs(markers: readonly string[]): readonly number[] {
  const seen = pods.flatMap((pod) => pod.markers());
  return markers.map((marker) => seen.filter((other) => other === marker).length);
}

const onceEach = (markers: readonly string[]): readonly number[] => markers.map(() => 1);

async function sendMarkers(count: number): Promise<readonly string[]> {
  const markers = Array.from({ length: count }, nextMarker);
  await Promise.all(markers.map((id) => harness.client.query({ engine: "e1", sql: `INSERT marker('${id}')` })));
  return markers;
}

test("a drained response is retried on another pod", async () => {
  const [first] = pods;
  await first.control("/test/fence?v=1");
  try {
    const markers = await sendMarkers(CONCURRENT);
    expect(runs(markers)).toEqual(onceEach(markers));
    expect(first.markers()).not.toEqual(expect.arrayContaining(markers.slice(0, 1)));
  } finally {
    await first.control("/test/fence?v=0");
  }
});

test(`${MANY} queries can wait for a retry at the same moment`, async () => {
  const before = await retries();
  for (const pod of pods) await pod.control("/test/fence?v=1");
  const sent = sendMarkers(MANY);
  // Each of them has been rejected at least once.
  await eventually(async () => (await retries()) - before > MANY);
  for (const pod of pods) await pod.control("/test/fence?v=0");
  const markers = await sent;
  expect(runs(markers)).toEqual(onceEach(markers));
});

test("a drained response of the only pods is retried until one of them accepts queries again", async () => {
  for (const pod of pods) await pod.control("/test/fence?v=1");
  const before = await retries();
  const sent = sendMarkers(CONCURRENT);
  await eventually(async () => (await retries()) >= before + CONCURRENT);
  for (const pod of pods) await pod.control("/test/fence?v=0");
  const markers = await sent;
  expect(runs(markers)).toEqual(onceEach(markers));
});

test("a persistent drained response reaches the client after about six seconds", async () => {
  for (const pod of pods) await pod.control("/test/fence?v=1");
  const startedMs = performance.now();
  try {
    const answer = await harness.client.send({ engine: "e1" });
    expect(answer.status).toBe(503);
    expect(answer.headers["x-firebolt-drained"]).toBeDefined();
    expect(performance.now() - startedMs).toBeGreaterThan(3_000);
    await harness.envoy.logged(/ 503 flags=URX /);
  } finally {
    for (const pod of pods) await pod.control("/test/fence?v=0");
  }
});

/** Asleep, they hear nothing but this. */
const sleepers: number[] = [];
afterAll(() => {
  for (const pid of sleepers) process.kill(pid, "SIGKILL");
});

/** An address whose listener does not accept and whose backlog is full: connection attempts get no response. */
async function deafAddress(): Promise<string> {
  const address = harness.nextAddress();
  const listen = `require("node:net").createServer().listen({ port: 3473, host: "${address}", backlog: 1 })`;
  const sleeper = startProcess(harness.workspace, { name: "deaf", binary: process.execPath, args: ["-e", listen] });
  /** False when there is no response. */
  const open = async (): Promise<boolean> => {
    const socket = connect({ port: 3473, host: address });
    socket.on("error", () => socket.destroy());
    const patience = AbortSignal.timeout(1_000);
    try {
      await once(socket, "connect", { signal: patience });
    } catch (error) {
      if (!patience.aborted) throw error;
      // A stalled event loop runs its timers first: the response may have arrived, but is not read yet.
      await nextTurn();
      if (socket.errored !== null) throw socket.errored;
    }
    return !socket.connecting;
  };
  await sleeper.waitUntilReady(open, 90_000);
  sleepers.push(sleeper.pid);
  process.kill(sleeper.pid, "SIGSTOP");
  while (await open());
  return address; // The backlog is full: from now on no connection is established.
}

test.each([
  { name: "without a listener", engine: "refused", makeAddress: async () => harness.nextAddress() },
  { name: "that does not respond", engine: "deaf", makeAddress: deafAddress },
])("an address $name costs a retry, not a query", async ({ engine, makeAddress }) => {
  harness.publish(engine, [{ address: await makeAddress() }]);
  const before = await retries();
  const markers = Array.from({ length: CONCURRENT }, nextMarker);
  const sent = Promise.all(markers.map((id) => harness.client.query({ engine, sql: `INSERT marker('${id}')` })));
  await eventually(async () => (await retries()) >= before + CONCURRENT);
  harness.publish(engine, pods);
  await sent;
  expect(runs(markers)).toEqual(onceEach(markers));
});

test("retry-only-unsent-queries: a query whose connection broke before a response is never retried", async () => {
  for (const pod of pods) await pod.control("/test/drop-answers?v=1");
  try {
    const markers = Array.from({ length: CONCURRENT }, nextMarker);
    const answers = await Promise.all(
      markers.map((id) => harness.client.send({ engine: "e1", sql: `INSERT marker('${id}')` })),
    );
    expect(answers.map((answer) => answer.status)).toEqual(markers.map(() => 503));
    await harness.envoy.logged(/ 503 flags=UC /);
    expect(runs(markers)).toEqual(onceEach(markers));
  } finally {
    for (const pod of pods) await pod.control("/test/drop-answers?v=0");
  }
});

test.each([
  { "x-envoy-retry-on": "5xx,reset,gateway-error", "x-envoy-max-retries": "5" },
  { "x-envoy-retry-on": "5xx,reset", "x-envoy-max-retries": "5", "x-forwarded-for": "10.0.0.1" },
  { "x-envoy-retry-on": "5xx,reset", "x-envoy-max-retries": "5", "x-envoy-internal": "true" },
])("not even when the client requests it: %o", async (headers) => {
  for (const pod of pods) await pod.control("/test/drop-answers?v=1");
  try {
    const id = nextMarker();
    const { status } = await harness.client.send({ engine: "e1", sql: `INSERT marker('${id}')`, headers });
    expect(status).toBe(503);
    expect(runs([id])).toEqual([1]);
  } finally {
    for (const pod of pods) await pod.control("/test/drop-answers?v=0");
  }
});

test("an error of the engine reaches the client unchanged and immediately", async () => {
  const retriesBefore = await retries();
  const { status, text } = await harness.client.send({ engine: "e1", sql: "SELECT fail()" });
  expect(status).toBe(500);
  expect(text).toContain("failed after it began");
  expect(await retries()).toBe(retriesBefore);
});

test("a pod that is killed in the middle of queries loses them, and none of them runs twice", async () => {
  const victim = await harness.startEngine({ engine: "e3" });
  harness.publish("e3", [victim]);
  const answers = Array.from({ length: CONCURRENT }, () =>
    harness.client.send({ engine: "e3", sql: "SELECT sleep(30000)" }),
  );
  const { ports, endpoints, gauges } = ENGINE_CONTRACT;
  await eventually(async () => {
    const metrics = await (await victim.get(ports.metrics, endpoints.metrics)).text();
    return metrics.includes(`${gauges.running} ${CONCURRENT}`);
  });
  const before = await retries();
  await victim.process.stop("SIGKILL");
  const statuses = (await Promise.all(answers)).map((answer) => answer.status);
  expect(statuses).toEqual(statuses.map(() => 503));
  expect(await retries()).toBe(before);
});

const padded = (sizeBytes: number): string => `SELECT 42 /*${"x".repeat(sizeBytes)}*/`;

test("a body that fits the buffer is sent again after a drained response", async () => {
  for (const pod of pods) await pod.control("/test/fence?v=1");
  const before = await retries();
  const sent = harness.client.query({ engine: "e1", sql: padded(2 * MEBIBYTE - 1024) });
  await eventually(async () => (await retries()) > before);
  for (const pod of pods) await pod.control("/test/fence?v=0");
  expect((await sent).value).toBe(42);
});

test("a larger body is not: the client gets the drained response", async () => {
  for (const pod of pods) await pod.control("/test/fence?v=1");
  const before = await retries();
  try {
    const { status, headers } = await harness.client.send({ engine: "e1", sql: padded(3 * MEBIBYTE) });
    expect({ status, drained: headers["x-firebolt-drained"] }).toEqual({ status: 503, drained: "true" });
    expect(await retries()).toBe(before);
  } finally {
    for (const pod of pods) await pod.control("/test/fence?v=0");
  }
});
