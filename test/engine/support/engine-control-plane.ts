// A real control plane with the real StatefulSet controller, simulated nodes and metrics pages: the one that all test files of a run share, or one
// of its own for a benchmark. Every test works in a namespace of its own (engine-harness.ts).
import { join } from "node:path";
import { createKubeClient, type KubeClient } from "@firebolt-operator/kube/client";
import { startControlPlane } from "../../../dev/control-plane/control-plane.ts";
import { addNodes } from "../../../dev/control-plane/nodes.ts";
import { clusterConfig } from "../../harness/control-plane/test-client.ts";
import { type MetricsServer, startMetricsServer } from "../../harness/pods/engine-metrics-server.ts";

export interface EngineControlPlane extends AsyncDisposable {
  readonly kubeconfig: string;
  /** The administrator's. */
  readonly client: KubeClient;
  readonly metrics: MetricsServer;
  readonly nodes: readonly string[];
}

const CRDS = join(import.meta.dirname, "../../../config/crd");
const NODES = 2;

export { openSimulatedCluster as openEngineControlPlane } from "../../harness/control-plane/simulated-cluster.ts";

export async function startEngineControlPlane(): Promise<EngineControlPlane> {
  const metrics = await startMetricsServer();
  const controlPlane = await startControlPlane({
    components: ["kube-controller-manager", "kube-scheduler", "kwok"],
    crds: CRDS,
  });
  const kubeconfig = controlPlane.adminKubeconfig;
  const nodes = await addNodes(kubeconfig, { count: NODES });
  const client = createKubeClient({ config: await clusterConfig(kubeconfig), maxSockets: 64 });
  return {
    kubeconfig,
    client,
    metrics,
    nodes,
    async [Symbol.asyncDispose]() {
      client.close();
      await controlPlane.stop();
      await metrics[Symbol.asyncDispose]();
    },
  };
}
