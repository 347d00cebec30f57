// Services on the node: kube-proxy, which writes the rules for their addresses, and CoreDNS, which resolves their
// names.
import { Resolver } from "node:dns/promises";
import { dirname } from "node:path";
import { type ManagedProcess, startProcess, type Workspace } from "@firebolt-operator/kube/testing";
import { stringify } from "yaml";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import {
  API_SERVICE_ADDRESS,
  CLUSTER_DOMAIN,
  DNS_READY_PORT,
  NODE_ADDRESS,
  POD_RANGE,
  PROXY_HEALTH_PORT,
  PROXY_METRICS_PORT,
} from "./addresses.ts";

const READY_DEADLINE_MS = 60_000;
const LOOKUP_DEADLINE_MS = 1_000;

export interface ServiceNetworkOptions {
  readonly workspace: Workspace;
  readonly controlPlane: ControlPlane;
  readonly nodeName: string;
  readonly binary: string;
}

export async function startKubeProxy(
  options: ServiceNetworkOptions & { readonly nft: string },
): Promise<ManagedProcess> {
  const { workspace, controlPlane, nodeName, binary, nft } = options;
  const kubeconfig = await controlPlane.userKubeconfig("system:kube-proxy");
  const file = workspace.write("kube-proxy.yaml", stringify(renderProxySettings(kubeconfig, nodeName)));
  const proxy = startProcess(workspace, {
    name: "kube-proxy",
    binary,
    args: [`--config=${file}`],
    env: { PATH: [dirname(nft), "/usr/sbin", "/usr/bin", "/sbin", "/bin"].join(":") },
  });
  await proxy.waitUntilReady(
    async (signal) => (await fetch(`http://127.0.0.1:${PROXY_HEALTH_PORT}/healthz`, { signal })).ok,
    READY_DEADLINE_MS,
  );
  return proxy;
}

export interface NameServer {
  readonly process: () => ManagedProcess;
  /** Restarts it, with responses cached for this long; 0 caches nothing. */
  restart(cacheSeconds: number): Promise<void>;
}

export async function startCoreDns(options: Omit<ServiceNetworkOptions, "nodeName">): Promise<NameServer> {
  const { workspace, controlPlane, binary } = options;
  const kubeconfig = await controlPlane.userKubeconfig("coredns", ["system:masters"]);
  const resolver = new Resolver({ timeout: LOOKUP_DEADLINE_MS, tries: 1 });
  resolver.setServers([NODE_ADDRESS]);
  const start = async (cacheSeconds: number) => {
    const file = workspace.write("Corefile", renderCorefile(kubeconfig, cacheSeconds));
    const dns = startProcess(workspace, { name: "coredns", binary, args: ["-conf", file] });
    await dns.waitUntilReady(async () => {
      const found = await resolver.resolve4(`kubernetes.default.svc.${CLUSTER_DOMAIN}`);
      return found.includes(API_SERVICE_ADDRESS);
    }, READY_DEADLINE_MS);
    return dns;
  };
  let running = await start(0);
  return {
    process: () => running,
    async restart(cacheSeconds) {
      await running.stop();
      running = await start(cacheSeconds);
    },
  };
}

export function renderProxySettings(kubeconfig: string, nodeName: string) {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    clientConnection: { kubeconfig },
    hostnameOverride: nodeName,
    clusterCIDR: POD_RANGE,
    healthzBindAddress: `127.0.0.1:${PROXY_HEALTH_PORT}`,
    metricsBindAddress: `127.0.0.1:${PROXY_METRICS_PORT}`,
    // A Service is reached as soon as it has an endpoint: one node has few rules, and waits a second by default.
    nftables: { minSyncPeriod: "100ms" },
    // The limits of connection tracking belong to the whole host: they stay as they are.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
    // Lowering a score needs CAP_SYS_RESOURCE.
    oomScoreAdj: 0,
  };
}

/**
 * Without a cache, the name of a new Service resolves immediately, and that of a switched Service has no stale address.
 * With one, the lines are those of Kubernetes' add-on manifest (`ttl 30`, `cache 30`).
 */
export function renderCorefile(kubeconfig: string, cacheSeconds: number): string {
  const isCached = cacheSeconds > 0;
  return [
    `${CLUSTER_DOMAIN} in-addr.arpa ip6.arpa {`,
    `  bind ${NODE_ADDRESS}`,
    "  errors",
    `  kubernetes ${CLUSTER_DOMAIN} in-addr.arpa ip6.arpa {`,
    `    kubeconfig ${kubeconfig}`,
    ...(isCached ? [`    ttl ${cacheSeconds}`] : []),
    "  }",
    ...(isCached ? [`  cache ${cacheSeconds}`] : []),
    `  ready 127.0.0.1:${DNS_READY_PORT}`,
    "}",
    "",
  ].join("\n");
}
