// The smallest Envoy configuration: one listener, one route, one static cluster. The gateway is compared with it. Pure.

export interface BareEnvoyInput {
  readonly clientPort: number;
  readonly adminPort: number;
  readonly addresses: readonly string[];
  readonly port: number;
  readonly oneQueryPerConnection: boolean;
}

const TYPES = "type.googleapis.com/envoy.extensions";

/** JSON is YAML. */
export function renderBareConfig(input: BareEnvoyInput): string {
  const { clientPort, adminPort, addresses, port, oneQueryPerConnection } = input;
  const at = (address: string, number: number) => ({ socket_address: { address, port_value: number } });
  return JSON.stringify({
    admin: { address: at("127.0.0.1", adminPort) },
    static_resources: {
      listeners: [
        {
          name: "clients",
          address: at("127.0.0.1", clientPort),
          filter_chains: [
            {
              filters: [
                {
                  name: "envoy.filters.network.http_connection_manager",
                  typed_config: {
                    "@type": `${TYPES}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
                    stat_prefix: "clients",
                    route_config: {
                      virtual_hosts: [
                        {
                          name: "all",
                          domains: ["*"],
                          routes: [{ match: { prefix: "/" }, route: { cluster: "engine", timeout: "0s" } }],
                        },
                      ],
                    },
                    http_filters: [
                      {
                        name: "envoy.filters.http.router",
                        typed_config: { "@type": `${TYPES}.filters.http.router.v3.Router` },
                      },
                    ],
                  },
                },
              ],
            },
          ],
        },
      ],
      clusters: [
        {
          name: "engine",
          type: "STATIC",
          connect_timeout: "1s",
          ...(oneQueryPerConnection ? { max_requests_per_connection: 1 } : {}),
          load_assignment: {
            cluster_name: "engine",
            endpoints: [{ lb_endpoints: addresses.map((address) => ({ endpoint: { address: at(address, port) } })) }],
          },
        },
      ],
    },
  });
}
