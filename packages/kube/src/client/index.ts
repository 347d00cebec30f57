// The client of the API server, and finding out which cluster to talk to.

export {
  type Authentication,
  type ClusterConfig,
  type ExecPlugin,
  type Impersonation,
  type PemSource,
} from "../config/cluster-config.ts";
export { type KubeconfigOptions, loadKubeconfig, type ReadFile } from "../config/kubeconfig.ts";
export { type RequestInfo } from "./calls.ts";
export {
  type AcceptedWrite,
  type ApplyOptions,
  type CallOptions,
  type DeleteOptions,
  type DeleteResult,
  type KubeClient,
  type ListOptions,
  type Patch,
  type ProxyRequest,
  type RawRequest,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from "./client.ts";
export { createKubeClient, type KubeClientOptions } from "./kube-client.ts";
