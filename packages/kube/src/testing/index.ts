// The test kit: a manual clock, a real control plane, and servers and proxies that misbehave on request.

export { type Authority, createAuthority } from "./authority.ts";
export {
  type Api,
  type ApiRequest,
  type ApiResponse,
  openApi,
  openApiFromKubeconfig,
  valueAt,
} from "./control-plane/api-request.ts";
export type { Component, ComponentFiles, ComponentProgram } from "./control-plane/components.ts";
export {
  type Binaries,
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from "./control-plane/control-plane.ts";
export { installCrds, manifestFiles } from "./control-plane/custom-resources.ts";
export { renderKubeconfig } from "./control-plane/kubeconfig-file.ts";
export { AddressInUseError, findFreePorts, withFreePorts } from "./control-plane/ports.ts";
export { type ManagedProcess, type Program, startProcess } from "./control-plane/process.ts";
export { openWorkspace, type Workspace, type WorkspaceOptions } from "./control-plane/workspace.ts";
export { type EventuallyOptions, eventually } from "./eventually.ts";
export {
  type Loopback,
  respondJson,
  type Script,
  type SeenRequest,
  startLoopback,
  unknownAuthority,
} from "./loopback-server.ts";
export { ManualClock } from "./manual-clock.ts";
export { MemoryCache } from "./memory-cache.ts";
export { createNamespace, requestAs, uniqueNamespace } from "./namespaces.ts";
export { startTcpProxy, TcpProxy, type TcpProxyTarget } from "./tcp-proxy.ts";
