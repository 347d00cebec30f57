// The kubelet's part of simulated nodes that plugin tests need: container logs that the test writes, and ports that lead to an address of the
// test.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFreePorts } from "@firebolt-operator/kube/testing";
import type { ControlPlane } from "../../../dev/control-plane/control-plane.ts";
import { announceKubelet, isListening, logLine, prepareKubelet } from "../../../dev/control-plane/kwok-kubelet.ts";
import { eventually } from "../../harness/control-plane/requests.ts";

export interface PluginKubelet extends AsyncDisposable {
  /**
   * Adds lines to the log of this container in every pod of the namespace, one second apart, from the given time on.
   */
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
  const { binary, args } = await prepareKubelet(cluster, {
    folder,
    port,
    namespaces: [options.namespace],
    logs: Object.fromEntries(options.containers.map((container) => [container, logFile(container)])),
    forwards: [{ to: options.forwardTo }],
  });
  const child = spawn(binary, args, { stdio: "ignore", env: { PATH: process.env["PATH"], HOME: folder } });
  await announceKubelet(cluster.adminKubeconfig, options.nodes, port);
  await eventually(() => isListening(port), { describe: "the kubelet's port" });
  return {
    say(container, from, lines) {
      const startMs = Date.parse(from);
      const text = lines.map((line, i) => logLine(startMs + i * 1000, line));
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
