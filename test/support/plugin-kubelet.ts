// The kubelet's part of simulated nodes that plugin tests need: container logs and port forwarding. It is kwok's own debugging
// server, which serves log files and forwards ports to addresses of the test; the nodes are told where it listens.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { resolveAssets } from "../../dev/assets/resolver.ts";
import type { ControlPlane } from "../../dev/control-plane/control-plane.ts";
import { findFreePorts } from "../../dev/control-plane/ports.ts";
import { eventually, requestAs } from "./cluster.ts";

export interface PluginKubelet extends AsyncDisposable {
  /** Adds lines to what this container says in every pod of the namespace, one second apart, from the given time on. */
  say(container: string, from: string, lines: readonly string[]): void;
}

export interface KubeletOptions {
  readonly nodes: readonly string[];
  readonly namespace: string;
  readonly containers: readonly string[];
  /** Where forwarded ports lead to. */
  readonly forwardTo: number;
}

export async function startPluginKubelet(cluster: ControlPlane, options: KubeletOptions): Promise<PluginKubelet> {
  const folder = join(cluster.folder, "kubelet");
  mkdirSync(folder);
  const logFile = (container: string): string => join(folder, `${container}.log`);
  for (const container of options.containers) writeFileSync(logFile(container), "");
  const [port = 0] = await findFreePorts(1);
  const child = await startKwok(cluster, { folder, port, config: kubeletConfig(options, logFile) });
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  for (const node of options.nodes)
    await requestAs(cluster.adminKubeconfig, {
      method: "PATCH",
      path: `/api/v1/nodes/${node}/status`,
      body: { status },
      contentType: "application/strategic-merge-patch+json",
    });
  await eventually(() => isListening(port), { describe: "the kubelet's port" });
  return {
    say(container, from, lines) {
      const startMs = Date.parse(from);
      const text = lines.map(
        (line, i) => `${new Date(startMs + i * 1000).toISOString().replace("Z", "000000Z")} stdout F ${line}\n`,
      );
      appendFileSync(logFile(container), text.join(""));
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const closed = once(child, "close");
      child.kill("SIGTERM");
      await closed;
    },
  };
}

function kubeletConfig(
  { namespace, containers, forwardTo }: KubeletOptions,
  logFile: (container: string) => string,
): string {
  const selector = { matchNamespaces: [namespace] };
  const objects = [
    {
      apiVersion: "kwok.x-k8s.io/v1alpha1",
      kind: "ClusterLogs",
      metadata: { name: "logs" },
      spec: {
        selector,
        logs: containers.map((name) => ({ containers: [name], logsFile: logFile(name), follow: true })),
      },
    },
    {
      apiVersion: "kwok.x-k8s.io/v1alpha1",
      kind: "ClusterPortForward",
      metadata: { name: "ports" },
      spec: { selector, forwards: [{ target: { port: forwardTo, address: "127.0.0.1" } }] },
    },
  ];
  return objects.map((object) => JSON.stringify(object)).join("\n---\n");
}

interface Kwok {
  readonly folder: string;
  readonly port: number;
  readonly config: string;
}

async function startKwok(cluster: ControlPlane, { folder, port, config }: Kwok): Promise<ChildProcess> {
  const binaries = await resolveAssets(["kwok"]);
  const configFile = join(folder, "kwok.yaml");
  writeFileSync(configFile, config);
  return spawn(
    binaries.get("kwok") ?? "",
    [
      `--kubeconfig=${cluster.adminKubeconfig}`,
      // It looks after no node: the control plane's own kwok does.
      "--manage-nodes-with-label-selector=example.com/none=none",
      `--server-address=0.0.0.0:${port}`,
      `--config=${configFile}`,
      // It does not start without a stage, though it has no node to use one on.
      `--config=${join(import.meta.dirname, "../../dev/control-plane/kwok/node-heartbeat.yaml")}`,
      // A certificate for this machine that the API server trusts: its own.
      `--tls-cert-file=${join(cluster.folder, "kube-apiserver.crt")}`,
      `--tls-private-key-file=${join(cluster.folder, "kube-apiserver.key")}`,
    ],
    { stdio: "ignore", env: { PATH: process.env["PATH"], HOME: folder } },
  );
}

function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, "127.0.0.1");
  socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  return promise.finally(() => socket.destroy());
}
