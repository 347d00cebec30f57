// Clients of the shared control plane, and the kinds that they write most.
import { homedir } from "node:os";
import {
  type ClusterConfig,
  createKubeClient,
  type KubeClient,
  type KubeClientOptions,
  loadKubeconfig,
} from "@firebolt-operator/kube/client";
import { inject } from "vitest";

export { Pod, Secret, ServiceAccount } from "@firebolt-operator/kube/kinds";

/** How to reach the shared control plane (or the one of this kubeconfig). */
export function clusterConfig(path: string = inject("adminKubeconfig")): Promise<ClusterConfig> {
  return loadKubeconfig({ path, env: {}, homeDir: homedir() });
}

/** A client for the administrator of the shared control plane, or for the user in the options. */
export async function testClient(options: Partial<KubeClientOptions> = {}): Promise<KubeClient> {
  return createKubeClient({ config: await clusterConfig(), ...options });
}
