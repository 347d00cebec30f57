// Clients that stop in the middle of a request, and clients that only hold connections: they may not keep others from being served.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import { change, clientConnectionManager, shrinkEngines } from "./support/adjusted-config.ts";
import { type RecordingEngine, startRecordingEngine } from "./support/fake-recording-engine.ts";
import { type GatewayHarness, openGatewayHarness } from "./support/gateway-harness.ts";

/** Queries that an engine runs at a time, after the rendered limits are divided. */
const LIMIT = 16;
const DIVISOR = 1_024 / LIMIT;

/** A connection whose end, however it comes, is no error. What it received is in `received`. */
async function open(port: number): Promise<{ readonly socket: Socket; received(): string }> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => socket.destroy());
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  await once(socket, "connect");
  return { socket, received: () => received };
}

describe("clients that announce a body and never send it", () => {
  /** What happens before a silent client loses its place has to fit in, on a slow machine too. */
  const REQUEST_TIMEOUT_MS = 25_000;
  let harness: GatewayHarness;
  let crowded: RecordingEngine;

  beforeAll(async () => {
    harness = await openGatewayHarness({
      adjust: (config) => {
        shrinkEngines(config, DIVISOR);
        change(clientConnectionManager(config), { request_timeout: `${REQUEST_TIMEOUT_MS / 1_000}s` });
      },
    });
    crowded = await startRecordingEngine(harness.nextAddress(), { answers: "when the body has come" });
    harness.publish("crowded", [crowded]);
  });
  afterAll(async () => {
    await crowded[Symbol.asyncDispose]();
    await harness[Symbol.asyncDispose]();
  });

  test("do not block another client's query: it is rejected immediately, and served when their slots are free", async () => {
    // More than the engine has places for.
    const announce = async () => {
      const client = await open(harness.clientPort);
      client.socket.write("POST / HTTP/1.1\r\nHost: x\r\nX-Firebolt-Engine: crowded\r\nContent-Length: 10\r\n\r\n");
      return client;
    };
    const silent = await Promise.all(Array.from({ length: 2 * LIMIT }, announce));
    // Every place of the engine is taken by a request that never comes in whole.
    await eventually(() => crowded.requests.length >= LIMIT);
    await eventually(() => silent.some(({ received }) => received().startsWith("HTTP/1.1 503 ")));
    // Envoy's threads count independently: a slot may still be free, and then another silent client takes it.
    await eventually(async () => {
      const { status } = await harness.client.send({ engine: "crowded" });
      if (status === 200) silent.push(await announce());
      return status === 503;
    });
    // Not one of the silent clients had lost its place by then: the query did not wait for that.
    expect(silent.filter(({ received }) => received().startsWith("HTTP/1.1 408 "))).toEqual([]);
    await harness.envoy.logged(/ 503 flags=UO .*engine=crowded$/);
    await eventually(() => silent.every(({ received }) => /^HTTP\/1.1 (408|503) /.test(received())));
    await harness.envoy.logged(/ 408 flags=\S+ details=request_overall_timeout .*engine=crowded$/);
    await harness.client.query({ engine: "crowded" });
    for (const { socket } of silent) socket.destroy();
  });

  test("a query that runs for longer than its request may take to come in is not cut", async () => {
    harness.publish("e1", [await harness.startEngine({ engine: "e1" })]);
    const { value } = await harness.client.query({ engine: "e1", sql: `SELECT sleep(${REQUEST_TIMEOUT_MS + 2_000})` });
    expect(value).toBe(REQUEST_TIMEOUT_MS + 2_000);
  });
});

test("connections beyond the limit are closed, and probes, statistics and the admin interface still work", async () => {
  await using harness = await openGatewayHarness({
    adjust: ({ overload_manager }) => {
      for (const { typed_config } of overload_manager.resource_monitors)
        if ("max_active_downstream_connections" in typed_config)
          change(typed_config, { max_active_downstream_connections: String(LIMIT) });
    },
  });
  harness.publish("e1", [await harness.startEngine({ engine: "e1" })]);
  const idle = await Promise.all(Array.from({ length: 2 * LIMIT }, () => open(harness.clientPort)));
  await eventually(() => idle.filter(({ socket }) => socket.destroyed).length === LIMIT);
  for (const path of ["/healthz", "/stats/prometheus"])
    expect((await fetch(`http://127.0.0.1:${harness.metricsPort}${path}`)).status).toBe(200);
  expect(await harness.envoy.admin("/ready")).toContain("LIVE");
  await expect(harness.client.send({ engine: "e1" })).rejects.toThrow();
  for (const { socket } of idle) socket.destroy();
  await eventually(async () => (await harness.client.send({ engine: "e1" })).status === 200);
});
