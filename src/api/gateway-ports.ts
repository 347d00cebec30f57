// The ports that a gateway listens on. The schema rejects them for anything else; the gateway's configuration and pods
// use them.
import { WAKE_PORTS } from "./wake-protocol.ts";

export const GATEWAY_PORTS = {
  /** Client traffic. */
  client: 8080,
  /** Envoy's admin interface: it can drain or stop the gateway, so it is bound to loopback only. */
  admin: 9901,
  wakeHold: WAKE_PORTS.hold,
  wakeDemand: WAKE_PORTS.demand,
  wakeProbe: WAKE_PORTS.probe,
  wakeDiscovery: WAKE_PORTS.discovery,
} as const;

/**
 * Ports of a gateway's pod that cannot be its metrics port, with or without a wake agent: it may be switched on later.
 */
export const RESERVED_GATEWAY_PORTS: readonly number[] = Object.values(GATEWAY_PORTS);

/** Why such a port is rejected, and the way out. */
export const RESERVED_PORT_MESSAGE = `the gateway itself listens on ${RESERVED_GATEWAY_PORTS.join(", ")}: choose another port`;
