// The poll with the program's client on real connections: gateways that hang behind the proxy of the API server.
import { type ObjectKey, silentLogger, systemClock } from "@firebolt-operator/kube";
import { MemoryCache, startLoopback } from "@firebolt-operator/kube/testing";
import { expect, test } from "vitest";
import { FireboltEngine } from "../api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../api/generated/kubernetes.ts";
import { WAKE_PATHS } from "../api/wake-protocol.ts";
import { pods } from "../engine/cluster/kinds.ts";
import { DemandPoll } from "../engine/demand/demand-poll.ts";
import { gatewayReader } from "../engine/gateways/gateway-pods.ts";
import { renderDemand } from "../wake-agent/demand.ts";
import { createGatewayClient } from "./gateway-readers.ts";

const HANGING = 40;
const AGENT = { container: "wake-agent", port: 9903 };

test(`the demand of a gateway listed after ${HANGING} that hang is read before any of those times out`, async () => {
  const rows = [{ engine: "e", stampMs: Date.now(), holds: 1, shed: 0 }];
  await using server = await startLoopback(({ url }, response) => {
    if (url.includes("/pods/works:"))
      response.end(renderDemand({ rows, dropped: 0, apiErrors: { write: 0, watch: 0 } }));
  });
  const gateways = new MemoryCache<V1Pod>(pods);
  const engines = new MemoryCache<FireboltEngine>(FireboltEngine);
  for (const name of [...Array.from({ length: HANGING }, (_, index) => `hangs-${index}`), "works"])
    gateways.put({
      metadata: { namespace: "ns", name },
      spec: { containers: [{ name: AGENT.container }] },
      status: { phase: "Running" },
    });
  engines.put({
    metadata: { namespace: "ns", name: "e" },
    spec: { replicas: 0 },
    status: { autoStopReason: "Stopped" },
  } as FireboltEngine);
  const client = createGatewayClient({ config: server.config() });
  const failed: string[] = [];
  const poll = new DemandPoll({
    engines,
    gateways,
    instances: new MemoryCache<FireboltInstance>(FireboltInstance),
    agent: AGENT,
    read: gatewayReader(client, AGENT, WAKE_PATHS.demand),
    clock: systemClock,
    logger: silentLogger,
    onScrapeFailed: (namespace) => failed.push(namespace),
  });
  const stop = new AbortController();
  const read = Promise.withResolvers<ObjectKey>();
  poll.onDemand(read.resolve);
  const running = poll.run(stop.signal);
  expect(await read.promise).toEqual({ namespace: "ns", name: "e" });
  expect(failed).toEqual([]);
  stop.abort();
  await running;
  client.close();
});
