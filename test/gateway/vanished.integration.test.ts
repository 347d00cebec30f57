// A node that vanishes in the middle of a query, on either side of the gateway: no packet says so, and no byte is on its way that could fail.
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ENGINE_CONTRACT } from "../../src/api/engine-contract.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { podAddress, vanish } from "../harness/pods/pod-network.ts";
import { type StandInEngine, startStandInEngine } from "../harness/pods/stand-in-engine.ts";
import { change } from "./support/adjusted-config.ts";
import { type GatewayWorld, NAMESPACE, openGatewayWorld } from "./support/gateway-harness.ts";

/** Seconds instead of the minute that a pod takes. */
const QUICK = { keepalive_probes: 2, keepalive_time: 1, keepalive_interval: 1 };
/** Longer than any test runs. */
const FOR_EVER = "SELECT sleep(3600000)";

let world: GatewayWorld;

beforeAll(async () => {
  world = await openGatewayWorld({
    adjust: ({ static_resources: { listeners, clusters } }) => {
      for (const listener of listeners) if ("tcp_keepalive" in listener) change(listener, { tcp_keepalive: QUICK });
      for (const cluster of clusters)
        if ("upstream_connection_options" in cluster)
          change(cluster.upstream_connection_options, { tcp_keepalive: QUICK });
    },
  });
});
afterAll(() => world[Symbol.asyncDispose]());

const RUNNING = new RegExp(`^${ENGINE_CONTRACT.gauges.running}(?:\\{.*\\})? (\\d+)$`, "m");
const running = async (engine: StandInEngine): Promise<number> =>
  Number(RUNNING.exec(await (await engine.get(9090, "/metrics")).text())?.[1]);

test("a query whose engine's node vanishes ends with an error, and the next one finds the new pod", async () => {
  const address = podAddress(1);
  const lost = await startStandInEngine(world.workspace, { engine: "e1", namespace: NAMESPACE, address });
  world.publish("e1", [lost]);
  const query = world.client.send({ engine: "e1", sql: FOR_EVER });
  await eventually(async () => (await running(lost)) === 1);
  vanish(address);
  const { status } = await query;
  expect(status).toBe(503);
  await world.envoy.logged(/ 503 flags=UC .*engine=e1$/);
  world.publish("e1", [await world.startEngine({ engine: "e1", generation: 1 })]);
  await eventually(async () => (await world.client.send({ engine: "e1" })).status === 200);
});

test("a client whose node vanishes takes its query with it", async () => {
  const engine = await world.startEngine({ engine: "e2" });
  world.publish("e2", [engine]);
  const localAddress = podAddress(2);
  const client = request({
    host: "127.0.0.1",
    port: world.clientPort,
    localAddress,
    agent: false,
    method: "POST",
    headers: { "X-Firebolt-Engine": "e2" },
  });
  // Here the client lives on, and hears that its connection has ended.
  client.on("error", () => client.destroy());
  client.end(FOR_EVER);
  await eventually(async () => (await running(engine)) === 1);
  vanish(localAddress);
  await eventually(async () => (await running(engine)) === 0);
  client.destroy();
});
