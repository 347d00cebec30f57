// The addresses of the local cluster. They exist only in its sandbox, so they cannot collide with the host's.

/** Of the one node: kubelet, CoreDNS and the endpoint of the `kubernetes` Service. */
export const NODE_ADDRESS = "10.245.0.1";

/** Pods get their addresses from here. */
export const POD_RANGE = "10.244.0.0/16";

/** As given to the API server; see packages/kube/src/testing/control-plane/api-server.ts. */
export const SERVICE_RANGE = "10.96.0.0/16";

/** The ClusterIP of the Service `kubernetes`: always the first of the range. */
export const API_SERVICE_ADDRESS = "10.96.0.1";

export const CLUSTER_DOMAIN = "cluster.local";

export const KUBELET_PORT = 10_250;
export const KUBELET_HEALTH_PORT = 10_248;
export const PROXY_HEALTH_PORT = 10_256;
export const PROXY_METRICS_PORT = 10_249;
export const DNS_READY_PORT = 8_181;
