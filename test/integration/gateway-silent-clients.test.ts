// Clients that stop in the middle of a request, and clients that only hold connections: they may not keep others from being served.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/cluster.ts";
import { change, clientConnectionManager, shrinkEngines } from "../support/gateway-adjust.ts";
import { type GatewayWorld, openGatewayWorld } from "../support/gateway-world.ts";
import { type RecordingEngine, startRecordingEngine } from "../support/recording-engine.ts";

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
  let world: GatewayWorld;
  let crowded: RecordingEngine;

  beforeAll(async () => {
    world = await openGatewayWorld({
      adjust: (config) => {
        shrinkEngines(config, DIVISOR);
        change(clientConnectionManager(config), { request_timeout: `${REQUEST_TIMEOUT_MS / 1_000}s` });
      },
    });
    crowded = await startRecordingEngine(world.nextAddress(), { answers: "when the body has come" });
    world.publish("crowded", [crowded]);
  });
  afterAll(async () => {
    await crowded[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  test("do not let another client's query hang: it is refused at once, and served when they have lost their places", async () => {
    // More than the engine has places for.
    const announce = async () => {
      const client = await open(world.clientPort);
      client.socket.write("POST / HTTP/1.1\r\nHost: x\r\nX-Firebolt-Engine: crowded\r\nContent-Length: 10\r\n\r\n");
      return client;
    };
    const silent = await Promise.all(Array.from({ length: 2 * LIMIT }, announce));
    // Every place of the engine is taken by a request that never comes in whole.
    await eventually(() => crowded.requests.length >= LIMIT);
    await eventually(() => silent.some(({ received }) => received().startsWith("HTTP/1.1 503 ")));
    // Envoy's threads do not count in step: a place may still be free, and then another silent client takes it.
    await eventually(async () => {
      const { status } = await world.client.send({ engine: "crowded" });
      if (status === 200) silent.push(await announce());
      return status === 503;
    });
    // Not one of the silent clients had lost its place by then: the query did not wait for that.
    expect(silent.filter(({ received }) => received().startsWith("HTTP/1.1 408 "))).toEqual([]);
    await world.envoy.logged(/ 503 flags=UO .*engine=crowded$/);
    await eventually(() => silent.every(({ received }) => /^HTTP\/1.1 (408|503) /.test(received())));
    await world.envoy.logged(/ 408 flags=\S+ details=request_overall_timeout .*engine=crowded$/);
    await world.client.query({ engine: "crowded" });
    for (const { socket } of silent) socket.destroy();
  });

  test("a query that runs for longer than its request may take to come in is not cut", async () => {
    world.publish("e1", [await world.startEngine({ engine: "e1" })]);
    const { value } = await world.client.query({ engine: "e1", sql: `SELECT sleep(${REQUEST_TIMEOUT_MS + 2_000})` });
    expect(value).toBe(REQUEST_TIMEOUT_MS + 2_000);
  });
});

test("connections beyond the limit are refused, and probes, statistics and administration go on", async () => {
  await using world = await openGatewayWorld({
    adjust: ({ overload_manager }) => {
      for (const { typed_config } of overload_manager.resource_monitors)
        if ("max_active_downstream_connections" in typed_config)
          change(typed_config, { max_active_downstream_connections: String(LIMIT) });
    },
  });
  world.publish("e1", [await world.startEngine({ engine: "e1" })]);
  const idle = await Promise.all(Array.from({ length: 2 * LIMIT }, () => open(world.clientPort)));
  await eventually(() => idle.filter(({ socket }) => socket.destroyed).length === LIMIT);
  for (const path of ["/healthz", "/stats/prometheus"])
    expect((await fetch(`http://127.0.0.1:${world.metricsPort}${path}`)).status).toBe(200);
  expect(await world.envoy.admin("/ready")).toContain("LIVE");
  await expect(world.client.send({ engine: "e1" })).rejects.toThrow();
  for (const { socket } of idle) socket.destroy();
  await eventually(async () => (await world.client.send({ engine: "e1" })).status === 200);
});
