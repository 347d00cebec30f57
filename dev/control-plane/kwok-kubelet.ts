// The kubelet's part of simulated nodes: container logs and port forwarding, by kwok's own debugging server, which serves log files and
// forwards ports to addresses. Returns the program and registers its port with the nodes; the caller starts and stops it.
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { openApiFromKubeconfig } from "@firebolt-operator/kube/testing";
import { resolveAssets } from "../assets/resolver.ts";
import type { ControlPlane } from "./control-plane.ts";

export interface KubeletOptions {
  /** Where its configuration is written. */
  readonly folder: string;
  readonly port: number;
  /** Of these namespaces only; empty means all. */
  readonly namespaces: readonly string[];
  /** Files in the format of a container runtime (see `logLine`), by container. */
  readonly logs: Readonly<Record<string, string>>;
  readonly forwards: readonly Forward[];
}

export interface Forward {
  /** Of the pod; absent: every port. */
  readonly from?: number;
  /** On this machine. */
  readonly to: number;
}

export interface KubeletProgram {
  readonly binary: string;
  readonly args: readonly string[];
}

export async function prepareKubelet(plane: ControlPlane, options: KubeletOptions): Promise<KubeletProgram> {
  const binary = (await resolveAssets(["kwok"])).get("kwok");
  if (binary === undefined) throw new Error("no binary for kwok");
  const config = join(options.folder, "kwok-kubelet.yaml");
  writeFileSync(config, renderKubeletConfig(options));
  return {
    binary,
    args: [
      `--kubeconfig=${plane.adminKubeconfig}`,
      // It manages no node: the control plane's own kwok does.
      "--manage-nodes-with-label-selector=example.com/none=none",
      `--server-address=0.0.0.0:${options.port}`,
      `--config=${config}`,
      // It does not start without a stage, though it has no node to use one on.
      `--config=${join(import.meta.dirname, "kwok/node-heartbeat.yaml")}`,
      // A certificate for this machine that the API server trusts: its own.
      `--tls-cert-file=${join(plane.folder, "kube-apiserver.crt")}`,
      `--tls-private-key-file=${join(plane.folder, "kube-apiserver.key")}`,
    ],
  };
}

function renderKubeletConfig({ namespaces, logs, forwards }: KubeletOptions): string {
  const selector = namespaces.length === 0 ? {} : { selector: { matchNamespaces: namespaces } };
  const object = (kind: string, spec: object) => ({
    apiVersion: "kwok.x-k8s.io/v1alpha1",
    kind,
    metadata: { name: "kubelet" },
    spec: { ...selector, ...spec },
  });
  const objects = [
    object("ClusterLogs", {
      logs: Object.entries(logs).map(([name, logsFile]) => ({ containers: [name], logsFile, follow: true })),
    }),
    object("ClusterPortForward", {
      forwards: forwards.map(({ from, to }) => ({
        ...(from === undefined ? {} : { ports: [from] }),
        target: { port: to, address: "127.0.0.1" },
      })),
    }),
  ];
  return objects.map((one) => JSON.stringify(one)).join("\n---\n");
}

/** The API server requests logs and ports of the nodes' pods there. */
export async function announceKubelet(kubeconfig: string, nodes: readonly string[], port: number): Promise<void> {
  const api = openApiFromKubeconfig(kubeconfig);
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  try {
    for (const node of nodes)
      await api.expect({
        method: "PATCH",
        path: `/api/v1/nodes/${node}/status`,
        body: { status },
        contentType: "application/strategic-merge-patch+json",
      });
  } finally {
    api.close();
  }
}

export function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, "127.0.0.1");
  socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** One line as a container runtime writes it. */
export function logLine(timeMs: number, line: string): string {
  return `${new Date(timeMs).toISOString().replace("Z", "000000Z")} stdout F ${line}\n`;
}
