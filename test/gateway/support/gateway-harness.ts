// One gateway as clients see it: the rendered configuration in a real Envoy, stand-in engines behind it, a name server between
// them, and a client that counts every request. Envoy finds the name server as in a pod, by resolv.conf: the configuration differs from
// that of a pod by its ports alone. Everything is on loopback and gone when it is closed.
import { randomInt } from "node:crypto";
import { findFreePorts, openWorkspace, type Workspace } from "@firebolt-operator/kube/testing";
import { type GatewayConfig, renderGatewayConfig } from "../../../src/gateway/gateway-config.ts";
import type { EngineSelection } from "../../../src/gateway/host-names.ts";
import { serialiseGatewayConfig } from "../../../src/gateway/serialise.ts";
import { type DnsServer, startDnsServer } from "../../harness/envoy/dns-server.ts";
import { type RunningEnvoy, startEnvoy } from "../../harness/envoy/envoy.ts";
import { GatewayClient } from "../../harness/envoy/gateway-client.ts";
import {
  type StandInEngine,
  type StandInEngineOptions,
  startStandInEngine,
} from "../../harness/pods/stand-in-engine.ts";

export const NAMESPACE = "ns1";
/** A domain of the node's own search list, with an address for every name in it, as ingress wildcards have. */
export const COMPANY_DOMAIN = "corp.example";

/** As the kubelet writes it for a pod: the cluster's search list, then that of the node. */
function podResolvConf(nameServer: string): string {
  return [
    `search ${NAMESPACE}.svc.cluster.local svc.cluster.local cluster.local ${COMPANY_DOMAIN}`,
    `nameserver ${nameServer}`,
    "options ndots:5",
    "",
  ].join("\n");
}

export interface Gateway {
  readonly envoy: RunningEnvoy;
  readonly clientPort: number;
  readonly metricsPort: number;
}

export interface GatewayHarness extends Gateway {
  readonly workspace: Workspace;
  readonly dns: DnsServer;
  readonly client: GatewayClient;
  /** One more gateway pod on ports of its own, with the same configuration or other ways to name an engine. */
  startGateway(name: string, selection?: EngineSelection): Promise<Gateway>;
  /** Starts an engine pod. Nobody finds it before it is published. */
  startEngine(options: Omit<StandInEngineOptions, "namespace" | "address">): Promise<StandInEngine>;
  /** Points the name of the engine's Service at these pods, from the next DNS query on. */
  publish(engine: string, pods: readonly Pick<StandInEngine, "address">[] | undefined): void;
  /** An address of its own on loopback. */
  nextAddress(): string;
  /** Where every name of the company's domain leads. Nothing listens there unless a test does. */
  readonly strangerAddress: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface GatewayHarnessOptions {
  /** Changes the rendered configuration, to bring about in a second what takes minutes. */
  readonly adjust?: (config: GatewayConfig) => void;
  /** The memory limit that the container would have. */
  readonly memoryLimitBytes?: number;
  /** Further ways to name an engine. */
  readonly selection?: EngineSelection;
}

export async function openGatewayHarness({
  adjust,
  memoryLimitBytes,
  selection,
}: GatewayHarnessOptions = {}): Promise<GatewayHarness> {
  const workspace = openWorkspace("gateway-");
  // Not 127.0.0.x: everyday servers live there, and several runs may share a machine.
  const network = `127.${randomInt(16, 250)}.${randomInt(0, 250)}`;
  const dns = await startDnsServer({ address: `${network}.253`, port: 53 });
  dns.set(`*.${COMPANY_DOMAIN}`, [`${network}.254`]);
  let lastHost = 0;
  const nextAddress = (): string => `${network}.${++lastHost}`;

  const startGateway = async (name: string, other = selection): Promise<Gateway> => {
    const [clientPort = 0, metricsPort = 0, adminPort = 0] = await findFreePorts(3);
    const config = renderGatewayConfig(
      { namespace: NAMESPACE, metricsPort, memoryLimitBytes, selection: other },
      { address: "127.0.0.1", clientPort, adminPort },
    );
    adjust?.(config);
    const envoy = await startEnvoy(workspace, {
      name,
      config: serialiseGatewayConfig(config),
      adminPort,
      resolvConf: podResolvConf(dns.address),
    });
    return { envoy, clientPort, metricsPort };
  };

  const gateway = await startGateway("envoy");
  return {
    ...gateway,
    workspace,
    dns,
    client: new GatewayClient(gateway.clientPort),
    startGateway,
    startEngine: (options) =>
      startStandInEngine(workspace, { ...options, namespace: NAMESPACE, address: nextAddress() }),
    publish: (engine, pods) =>
      dns.set(
        serviceHost(engine),
        pods?.map((pod) => pod.address),
      ),
    nextAddress,
    strangerAddress: `${network}.254`,
    async [Symbol.asyncDispose]() {
      await dns.close();
      await workspace.close();
    },
  };
}

export function serviceHost(engine: string): string {
  return `${engine}-service.${NAMESPACE}.svc.cluster.local`;
}

/** Envoy counts the retries of all engines together. */
export const RETRIES = "cluster.dynamic_forward_proxy.upstream_rq_retry";
