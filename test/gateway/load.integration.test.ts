// Size and number: bodies larger than the buffers, hundreds of concurrent queries, queries that send no data for long,
// and the limits that protect one engine from another.
import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import type { StandInEngine } from "../harness/pods/stand-in-engine.ts";
import { shrinkEngines } from "./support/adjusted-config.ts";
import { type GatewayHarness, openGatewayHarness } from "./support/gateway-harness.ts";

const MEBIBYTE = 1024 * 1024;
const STREAMS = 300;

let harness: GatewayHarness;
/** What `e1` runs on. While it is held, its queries wait for as long as the test likes. */
let pod: StandInEngine;

beforeAll(async () => {
  harness = await openGatewayHarness();
  pod = await harness.startEngine({ engine: "e1" });
  harness.publish("e1", [pod]);
  harness.publish("e2", [await harness.startEngine({ engine: "e2" })]);
});
afterAll(async () => {
  console.log(`gateway-load: ${harness.client.sent} requests sent, ${harness.client.failed} failed`);
  expect(harness.client.failed).toBe(0);
  await harness[Symbol.asyncDispose]();
});

test.each([1, 2, 3, 16, 64])("a query of %i MiB arrives whole", async (mebibytes) => {
  const sql = `SELECT 42 /*${"x".repeat(mebibytes * MEBIBYTE)}*/`;
  const { text } = await harness.client.query({ engine: "e1", sql });
  expect(JSON.parse(text)).toMatchObject({ data: [[42]], bodyBytes: sql.length });
});

test.each([1, 3, 32])("a response of %i MiB arrives complete", async (mebibytes) => {
  const { value } = await harness.client.query({ engine: "e1", sql: `SELECT blob(${mebibytes * MEBIBYTE})` });
  expect(String(value)).toHaveLength(mebibytes * MEBIBYTE);
});

test("concurrent first queries of a new engine", async () => {
  harness.publish("fresh", [await harness.startEngine({ engine: "fresh" })]);
  const answers = Array.from({ length: 50 }, () => harness.client.query({ engine: "fresh" }));
  expect((await Promise.all(answers)).map((answer) => answer.value)).toEqual(answers.map(() => 42));
});

test(`${STREAMS} queries at once on as many connections`, async () => {
  await pod.control("/test/hold?v=1");
  const answers = Array.from({ length: STREAMS }, () =>
    harness.client.query({ engine: "e1", sql: "SELECT sleep(15)" }),
  );
  await eventually(async () => (await harness.envoy.statistic("http.gateway.downstream_rq_active")) === STREAMS);
  await pod.control("/test/hold?v=0");
  expect((await Promise.all(answers)).map((answer) => answer.value)).toEqual(answers.map(() => 15));
});

async function streamQuery(session: ClientHttp2Session, sql: string): Promise<number> {
  const stream = session.request({ ":method": "POST", ":path": "/", "x-firebolt-engine": "e1" });
  stream.end(sql);
  const [headers] = await once(stream, "response", { signal: AbortSignal.timeout(150_000) });
  stream.resume();
  await once(stream, "end");
  return Number(headers[":status"]);
}

test(`${STREAMS} streams at once on one HTTP/2 connection`, async () => {
  const session = connect(`http://127.0.0.1:${harness.clientPort}`);
  try {
    await pod.control("/test/hold?v=1");
    const streams = Array.from({ length: STREAMS }, () => streamQuery(session, "SELECT sleep(15)"));
    await eventually(async () => (await harness.envoy.statistic("http.gateway.downstream_rq_active")) === STREAMS);
    await pod.control("/test/hold?v=0");
    const statuses = await Promise.all(streams);
    harness.client.sent += STREAMS;
    harness.client.failed += statuses.filter((status) => status !== 200).length;
    expect(statuses).toEqual(statuses.map(() => 200));
  } finally {
    session.close();
  }
});

test("queries beyond the limit of an engine are rejected immediately, and no other engine is affected", async () => {
  const limit = 16;
  await using small = await openGatewayHarness({ adjust: (config) => shrinkEngines(config, 1_024 / limit) });
  const crowded = await small.startEngine({ engine: "e2" });
  small.publish("e2", [crowded]);
  small.publish("e1", [await small.startEngine({ engine: "e1" })]);
  for (const engine of ["e1", "e2"]) await small.client.query({ engine });
  await crowded.control("/test/hold?v=1");
  const answered: number[] = [];
  const flood = Array.from({ length: 10 * limit }, async () => {
    answered.push((await small.client.send({ engine: "e2", sql: "SELECT sleep(15)" })).status);
  });
  // Envoy's threads count together but not in step: a few may exceed the limit. All others are rejected while those
  // run.
  await eventually(() => answered.length >= flood.length - 4 * limit);
  expect(new Set(answered)).toEqual(new Set([503]));
  await small.envoy.logged(/ 503 flags=UO .*engine=e2$/);
  await small.client.query({ engine: "e1" });
  await crowded.control("/test/hold?v=0");
  await Promise.all(flood);
  const accepted = answered.filter((status) => status === 200).length;
  expect(answered.filter((status) => status === 503)).toHaveLength(answered.length - accepted);
  expect(accepted).toBeGreaterThanOrEqual(limit);
  expect(accepted).toBeLessThanOrEqual(4 * limit);
});

test("a query that sends no data for longer than every idle timeout is not cut off", async () => {
  // The listener's own idle time, minutes by default, is set to a second, and so is the life of an unused engine's cluster.
  await using impatient = await openGatewayHarness({
    adjust: (config) => {
      for (const { typed_config: manager } of config.static_resources.listeners.flatMap((listener) =>
        listener.filter_chains.flatMap((chain) => chain.filters),
      ))
        if ("route_config" in manager) Object.assign(manager, { stream_idle_timeout: "1s" });
      for (const cluster of config.static_resources.clusters)
        if ("cluster_type" in cluster) cluster.cluster_type.typed_config.sub_clusters_config.sub_cluster_ttl = "1s";
    },
  });
  impatient.publish("e1", [await impatient.startEngine({ engine: "e1" })]);
  const { value } = await impatient.client.query({ engine: "e1", sql: "SELECT sleep(5000)" });
  expect(value).toBe(5_000);
});
