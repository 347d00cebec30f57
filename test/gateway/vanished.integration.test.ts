// A node that vanishes in the middle of a query, on either side of the gateway: no packet signals it, and no byte in
// flight can fail.
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ENGINE_CONTRACT } from "../../src/api/engine-contract.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { podAddress, vanish } from "../harness/pods/pod-network.ts";
import { type StandInEngine, startStandInEngine } from "../harness/pods/stand-in-engine.ts";
import { change } from "./support/adjusted-config.ts";
import { type GatewayHarness, NAMESPACE, openGatewayHarness } from "./support/gateway-harness.ts";

/** Seconds instead of the minute that a pod takes. */
const QUICK = { keepalive_probes: 2, keepalive_time: 1, keepalive_interval: 1 };
/** Longer than any test runs. */
const FOR_EVER = "SELECT sleep(3600000)";

let harness: GatewayHarness;

beforeAll(async () => {
  harness = await openGatewayHarness({
    adjust: ({ static_resources: { listeners, clusters } }) => {
      for (const listener of listeners) if ("tcp_keepalive" in listener) change(listener, { tcp_keepalive: QUICK });
      for (const cluster of clusters)
        if ("upstream_connection_options" in cluster)
          change(cluster.upstream_connection_options, { tcp_keepalive: QUICK });
    },
  });
});
afterAll(() => harness[Symbol.asyncDispose]());

const RUNNING = new RegExp(`^${ENGINE_CONTRACT.gauges.running}(?:\\{.*\\})? (\\d+)$`, "m");
const running = async (engine: StandInEngine): Promise<number> =>
  Number(RUNNING.exec(await (await engine.get(9090, "/metrics")).text())?.[1]);

test("a query whose engine's node vanishes ends with an error, and the next one finds the new pod", async () => {
  const address = podAddress(1);
  const lost = await startStandInEngine(harness.workspace, { engine: "e1", namespace: NAMESPACE, address });
  harness.publish("e1", [lost]);
  const query = harness.client.send({ engine: "e1", sql: FOR_EVER });
  await eventually(async () => (await running(lost)) === 1);
  vanish(address);
  const { status } = await query;
  expect(status).toBe(503);
  await harness.envoy.logged(/ 503 flags=UC .*engine=e1$/);
  harness.publish("e1", [await harness.startEngine({ engine: "e1", generation: 1 })]);
  await eventually(async () => (await harness.client.send({ engine: "e1" })).status === 200);
});

test("a client whose node vanishes takes its query with it", async () => {
  const engine = await harness.startEngine({ engine: "e2" });
  harness.publish("e2", [engine]);
  const localAddress = podAddress(2);
  const client = request({
    host: "127.0.0.1",
    port: harness.clientPort,
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
