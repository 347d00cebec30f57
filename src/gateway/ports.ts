// Where a gateway listens. The instance renderer publishes the same numbers on its pods and Services.
import { SCHEMA_DEFAULTS } from "../api/defaults.ts";

export const GATEWAY_PORTS = {
  /** Client traffic. */
  client: 8080,
  /** Envoy's administration: it can drain or stop the gateway, so it is bound to loopback only. */
  admin: 9901,
  /** Where the wake agent answers the gateway beside it; loopback only. */
  wakeHold: 9902,
  /** Where the wake agent shows the demand that it has seen. */
  wakeDemand: 9903,
  /** Where the wake agent tries whether an engine can be reached through the gateway; loopback only. */
  wakeProbe: 9904,
} as const;

/** The query port of every engine pod. */
export const ENGINE_QUERY_PORT = 3473;

/** The port of the statistics and of the kubelet's probes. An unset or zero field means the default. */
export function resolveMetricsPort(metricsPort: number | undefined): number {
  return metricsPort === undefined || metricsPort === 0 ? SCHEMA_DEFAULTS.gateway.metricsPort : metricsPort;
}
