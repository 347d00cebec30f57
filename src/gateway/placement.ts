// Where one Envoy process runs: in a gateway pod, or anywhere else with other ports and another DNS server (a test, a
// laptop). It affects sockets only, never routing.
import { GATEWAY_PORTS } from "./ports.ts";

export interface SocketEndpoint {
  readonly address: string;
  readonly port: number;
}

export interface GatewayPlacement {
  /** The address of the client and statistics listeners. */
  readonly address: string;
  readonly clientPort: number;
  readonly adminPort: number;
  /** The ports of the wake agent, and the one at which it probes engines; by default those of a pod. */
  readonly wakeHoldPort?: number;
  readonly wakeDiscoveryPort?: number;
  readonly wakeProbePort?: number;
  /** DNS servers to use instead of those of the pod's resolv.conf. */
  readonly dnsResolvers?: readonly SocketEndpoint[];
}

/** A pod of its own: every port is free and the cluster's DNS server is in resolv.conf. */
export const POD_PLACEMENT: GatewayPlacement = {
  address: "0.0.0.0",
  clientPort: GATEWAY_PORTS.client,
  adminPort: GATEWAY_PORTS.admin,
};
