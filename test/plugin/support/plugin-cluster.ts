// What plugin tests run against: a real control plane with simulated nodes, the bundled operator at work in it, and the bundled
// plugin. One per test file; the namespace `analytics` is where things happen.
import { join } from "node:path";
import { createKubeClient, type KubeClient } from "@firebolt-operator/kube/client";
import { resolveAssets } from "../../../dev/assets/resolver.ts";
import { type ControlPlane, startControlPlane } from "../../../dev/control-plane/control-plane.ts";
import { addNodes } from "../../../dev/control-plane/nodes.ts";
import { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import { eventually, requestAs } from "../../harness/control-plane/requests.ts";
import { clusterConfig } from "../../harness/control-plane/test-client.ts";
import { type MetricsServer, startMetricsServer } from "../../harness/pods/engine-metrics-server.ts";
import { buildProgram, type OperatorProcess, startOperator } from "../../harness/programs/operator-process.ts";
import {
  type PluginOptions,
  type PluginResult,
  type RunningPlugin,
  runPlugin,
  startPlugin,
} from "../../harness/programs/plugin-process.ts";

const ROOT = join(import.meta.dirname, "../../..");
export const NAMESPACE = "analytics";

export interface PluginCluster extends AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly client: KubeClient;
  readonly metrics: MetricsServer;
  readonly nodes: readonly string[];
  readonly operator: OperatorProcess;
  /** The real kubectl. */
  readonly kubectl: string;
  /** With the administrator's kubeconfig and, unless another is given, the namespace. */
  plugin(args: readonly string[], options?: PluginOptions): Promise<PluginResult>;
  start(args: readonly string[], options?: PluginOptions): RunningPlugin;
  /** Waits until the engine rests with its spec confirmed. */
  rested(name: string): Promise<FireboltEngine>;
}

export async function startPluginCluster(): Promise<PluginCluster> {
  const metrics = await startMetricsServer();
  const components = ["kube-controller-manager", "kube-scheduler", "kwok"] as const;
  const [controlPlane, binaries] = await Promise.all([
    startControlPlane({ components, crds: join(ROOT, "config/crd") }),
    resolveAssets(["kubectl"]),
    buildProgram(),
  ]);
  const kubeconfig = controlPlane.adminKubeconfig;
  const nodes = await addNodes(kubeconfig, { count: 2 });
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  await requestAs(kubeconfig, { method: "POST", path: "/api/v1/namespaces", body });
  const operator = startOperator([`--kubeconfig=${kubeconfig}`, "--health-probe-bind-address=0", "--drain-settle=0s"]);
  const client = createKubeClient({ config: await clusterConfig(kubeconfig) });
  const kubectl = binaries.get("kubectl") ?? "";
  const complete = (args: readonly string[]): readonly string[] => [
    ...args,
    ...(args.some((arg) => /^(-n|-A|--namespace|--all-namespaces)/.test(arg)) ? [] : ["-n", NAMESPACE]),
  ];
  const withKubectl = (options: PluginOptions): PluginOptions => ({
    ...options,
    env: { KUBECTL: kubectl, KUBECONFIG: kubeconfig, ...options.env },
  });
  return {
    controlPlane,
    client,
    metrics,
    nodes,
    operator,
    kubectl,
    plugin: (args, options = {}) => runPlugin(complete(args), withKubectl(options)),
    start: (args, options = {}) => startPlugin(complete(args), withKubectl(options)),
    rested: (name) =>
      eventually(
        async () => {
          const engine = await client.get(FireboltEngine, { namespace: NAMESPACE, name });
          const { status, metadata } = engine;
          const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
          const rests = (status?.phase === "stable" && ready) || status?.phase === "stopped";
          if (!rests || status.observedGeneration !== metadata?.generation) throw new Error(JSON.stringify(status));
          return engine;
        },
        { timeoutMs: 120_000, describe: `engine ${name} at rest` },
      ),
    async [Symbol.asyncDispose]() {
      client.close();
      await operator[Symbol.asyncDispose]();
      await controlPlane.stop();
      await metrics[Symbol.asyncDispose]();
    },
  };
}
