// How a query may name its engine besides header and parameter: by host, below a domain of the gateway, or not at all,
// where the instance has a default engine. routing.lua reads the result from the metadata of the route.

/** The fields of an instance, and the gateway's own name. */
export interface EngineSelection {
  /** `spec.gateway.hostDomains`. */
  readonly hostDomains?: readonly string[] | undefined;
  /** `spec.gateway.defaultEngine`. */
  readonly defaultEngine?: string | undefined;
  /** The gateway's Service; its names, and `localhost`, name no engine. */
  readonly service: string;
}

/** Absent fields add nothing: such a gateway reads no host. */
export function selectionMetadata(
  namespace: string,
  selection: EngineSelection | undefined,
): Readonly<Record<string, unknown>> {
  const { hostDomains = [], defaultEngine = "" } = selection ?? {};
  return {
    ...(selection === undefined || hostDomains.length === 0
      ? {}
      : { host_domains: [...hostDomains], own_hosts: ownHosts(selection.service, namespace) }),
    ...(defaultEngine === "" ? {} : { default_engine: defaultEngine }),
  };
}

/**
 * Hosts under which clients reach the gateway and name no engine: those of its Service inside the cluster, and that of
 * a port forward. Addresses count too; the script recognises them.
 */
function ownHosts(service: string, namespace: string): readonly string[] {
  const names = ["", `.${namespace}`, `.${namespace}.svc`, `.${namespace}.svc.cluster.local`];
  return ["localhost", ...names.map((rest) => `${service}${rest}`)];
}
