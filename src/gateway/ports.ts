// The ports of a gateway. The instance renderer publishes the same numbers on its pods and Services.
import { SCHEMA_DEFAULTS } from "../api/defaults.ts";
import { ENGINE_CONTRACT } from "../api/engine-contract.ts";

export { GATEWAY_PORTS } from "../api/gateway-ports.ts";

/** The query port of every engine pod. */
export const ENGINE_QUERY_PORT = ENGINE_CONTRACT.ports.query;

/** The port of the statistics and of the kubelet's probes. An unset or zero field means the default. */
export function resolveMetricsPort(metricsPort: number | undefined): number {
  return metricsPort === undefined || metricsPort === 0 ? SCHEMA_DEFAULTS.gateway.metricsPort : metricsPort;
}
