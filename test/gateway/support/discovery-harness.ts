// A gateway whose Envoy discovers engines: the rendered configuration in a real Envoy, the agent's own servers beside it, and pods that
// the test publishes. The parts of the agent that talk to Kubernetes are not here; test/wake runs the whole agent.
import { randomInt } from "node:crypto";
import { silentLogger, systemClock } from "@firebolt-operator/kube";
import { findFreePorts, openWorkspace, type Workspace } from "@firebolt-operator/kube/testing";
import { renderGatewayConfig } from "../../../src/gateway/gateway-config.ts";
import { serialiseGatewayConfig } from "../../../src/gateway/serialise.ts";
import { createDiscoveryServer } from "../../../src/wake-agent/discovery/discovery-server.ts";
import { EngineDiscovery, type EngineEndpoint } from "../../../src/wake-agent/discovery/engine-discovery.ts";
import { createHoldServer } from "../../../src/wake-agent/servers.ts";
import { type DnsServer, startDnsServer } from "../../harness/envoy/dns-server.ts";
import { type RunningEnvoy, startEnvoy } from "../../harness/envoy/envoy.ts";
import { GatewayClient } from "../../harness/envoy/gateway-client.ts";
import { NAMESPACE, serviceHost } from "./gateway-harness.ts";

export interface DiscoveryHarness extends AsyncDisposable {
  readonly workspace: Workspace;
  readonly envoy: RunningEnvoy;
  readonly dns: DnsServer;
  readonly client: GatewayClient;
  readonly clientPort: number;
  readonly metricsPort: number;
  /** The agent that runs now. */
  readonly discovery: () => EngineDiscovery;
  /** Publishes these pods, to the agent and to the name server; undefined: there is no such engine. */
  publish(engine: string, pods: readonly EngineEndpoint[] | undefined): void;
  /** To the agent alone, or to the name server alone. */
  publishToAgent(engine: string, pods: readonly EngineEndpoint[] | undefined): void;
  publishToDns(engine: string, pods: readonly EngineEndpoint[] | undefined): void;
  startAgent(): Promise<void>;
  stopAgent(): Promise<void>;
  /** An address of its own on loopback. */
  nextAddress(): string;
}

export interface DiscoveryHarnessOptions {
  readonly concurrency?: number;
  readonly startAgent?: boolean;
}

export async function openDiscoveryHarness(options: DiscoveryHarnessOptions = {}): Promise<DiscoveryHarness> {
  const workspace = openWorkspace("discovery-");
  const network = `127.${randomInt(16, 250)}.${randomInt(0, 250)}`;
  const dns = await startDnsServer();
  const [clientPort = 0, metricsPort = 0, adminPort = 0, holdPort = 0, probePort = 0, discoveryPort = 0] =
    await findFreePorts(6);
  const known = new Map<string, readonly EngineEndpoint[]>();
  let agent: { readonly discovery: EngineDiscovery; readonly stop: () => Promise<void> } | undefined;
  let epoch = 0;
  const startAgent = async (): Promise<void> => {
    const stop = new AbortController();
    epoch += 1_000;
    const discovery = new EngineDiscovery({
      clock: systemClock,
      logger: silentLogger,
      namespace: NAMESPACE,
      endpoints: (engine) => known.get(engine) ?? [],
      exists: (engine) => known.has(engine),
      invalidate: () => {
        epoch++;
      },
    });
    const check = async (engine: string) =>
      known.has(engine)
        ? ({ status: 200, decision: "ready" } as const)
        : ({ status: 404, decision: "unknown" } as const);
    const servers = [
      createDiscoveryServer({ port: discoveryPort, discovery, logger: silentLogger }),
      createHoldServer({
        port: holdPort,
        admission: { check, hold: check },
        epoch: () => epoch + discovery.renumbered,
        publish: (engine) => discovery.publish(engine),
        logger: silentLogger,
      }),
    ];
    const running = Promise.all(servers.map((server) => server.run(stop.signal)));
    await Promise.all(servers.map((server) => server.whenListening));
    agent = {
      discovery,
      stop: async () => {
        stop.abort();
        await running;
      },
    };
  };
  const stopAgent = async (): Promise<void> => {
    await agent?.stop();
    agent = undefined;
  };
  if (options.startAgent !== false) await startAgent();
  const config = renderGatewayConfig(
    { namespace: NAMESPACE, metricsPort, wake: true },
    {
      address: "127.0.0.1",
      clientPort,
      adminPort,
      dnsResolvers: [dns],
      wakeHoldPort: holdPort,
      wakeProbePort: probePort,
      wakeDiscoveryPort: discoveryPort,
    },
  );
  const envoy = await startEnvoy(workspace, {
    config: serialiseGatewayConfig(config),
    adminPort,
    concurrency: options.concurrency ?? 2,
  });
  const publishToAgent: DiscoveryHarness["publishToAgent"] = (engine, pods) => {
    if (pods === undefined) known.delete(engine);
    else known.set(engine, pods);
    agent?.discovery.update(engine);
  };
  const publishToDns: DiscoveryHarness["publishToDns"] = (engine, pods) =>
    dns.set(
      serviceHost(engine),
      pods?.map(({ address }) => address),
    );
  let lastHost = 0;
  return {
    workspace,
    envoy,
    dns,
    client: new GatewayClient(clientPort),
    clientPort,
    metricsPort,
    discovery: () => {
      if (agent === undefined) throw new Error("there is no agent");
      return agent.discovery;
    },
    publish: (engine, pods) => {
      publishToAgent(engine, pods);
      publishToDns(engine, pods);
    },
    publishToAgent,
    publishToDns,
    startAgent,
    stopAgent,
    nextAddress: () => `${network}.${++lastHost}`,
    async [Symbol.asyncDispose]() {
      await stopAgent();
      await workspace.close();
      await dns.close();
    },
  };
}
