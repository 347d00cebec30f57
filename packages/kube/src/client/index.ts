// The client of the API server, and how to find the cluster.

export type {
  Authentication,
  ClusterConfig,
  ExecPlugin,
  Impersonation,
  PemSource,
} from "../config/cluster-config.ts";
export { type KubeconfigOptions, loadKubeconfig, type ReadFile } from "../config/kubeconfig.ts";
export type { RequestInfo } from "./calls.ts";
export type {
  AcceptedWrite,
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  DeleteResult,
  KubeClient,
  ListOptions,
  LogOptions,
  LogRequest,
  Patch,
  ProxyRequest,
  RawRequest,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client.ts";
export { createKubeClient, type KubeClientOptions } from "./kube-client.ts";
