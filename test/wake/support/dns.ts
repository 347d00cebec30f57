// The DNS server of a namespace: resolves its Services from the real EndpointSlices, as a cluster's DNS server does,
// after an optional delay. Names without ready endpoints exist and have no address.
import { type DeepReadonly, defineResource, type KubeObject, silentLogger, systemClock } from "@firebolt-operator/kube";
import { createObjectCache } from "@firebolt-operator/kube/cache";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { type DnsServer, startDnsServer } from "../../harness/envoy/dns-server.ts";

interface Slice extends KubeObject {
  endpoints?: { addresses: string[]; conditions?: { ready?: boolean } }[];
}

const Slice = defineResource<Slice>({
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
});
const SERVICE = "kubernetes.io/service-name";

export interface NamespaceDns extends AsyncDisposable {
  readonly server: DnsServer;
  /** How long the server takes to notice a change from now on. */
  lag(ms: number): void;
}

export async function startNamespaceDns(client: KubeClient, namespace: string): Promise<NamespaceDns> {
  const server = await startDnsServer();
  const stop = new AbortController();
  let lagMs = 0;
  const slices = createObjectCache({
    client,
    type: Slice,
    logger: silentLogger,
    namespaces: [namespace],
    indexes: { service: (slice) => [serviceOf(slice)] },
  });
  const publish = (service: string): void => {
    const found = slices.byIndex("service", service);
    const ready = found.flatMap(({ endpoints = [] }) =>
      endpoints.filter(({ conditions }) => conditions?.ready !== false),
    );
    const addresses = ready.flatMap(({ addresses: [first] }) => (first === undefined ? [] : [first]));
    server.set(`${service}.${namespace}.svc.cluster.local`, found.length === 0 ? undefined : addresses);
  };
  slices.onEvent(({ object }) => {
    const service = serviceOf(object);
    if (lagMs === 0) publish(service);
    else systemClock.after(lagMs, () => publish(service));
  });
  const running = slices.run(stop.signal);
  await slices.whenSynced(stop.signal);
  return {
    server,
    lag: (ms) => {
      lagMs = ms;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await server.close();
    },
  };
}

function serviceOf({ metadata }: DeepReadonly<Slice>): string {
  return metadata?.labels?.[SERVICE] ?? "";
}
