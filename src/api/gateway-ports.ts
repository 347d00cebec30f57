// Where a gateway listens. The schema refuses these ports for anything else; the gateway's configuration and pods use them.

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

/** Ports of a gateway's pod that cannot be its metrics port, with or without a wake agent: it may be switched on later. */
export const RESERVED_GATEWAY_PORTS: readonly number[] = Object.values(GATEWAY_PORTS);

/** Why such a port is refused, and the way out. */
export const RESERVED_PORT_MESSAGE = `the gateway itself listens on ${RESERVED_GATEWAY_PORTS.join(", ")}: choose another port`;
