// Clients of the shared control plane.
import { homedir } from "node:os";
import { inject } from "vitest";
import type { KubeClient } from "../../src/client/client.ts";
import { createKubeClient, type KubeClientOptions } from "../../src/client/kube-client.ts";
import type { ClusterConfig } from "../../src/config/cluster-config.ts";
import { loadKubeconfig } from "../../src/config/kubeconfig.ts";

export { Pod, Secret, ServiceAccount } from "../../src/kinds/index.ts";

/** The configuration of the shared control plane (or of this kubeconfig). */
export function clusterConfig(path: string = inject("adminKubeconfig")): Promise<ClusterConfig> {
  return loadKubeconfig({ path, env: {}, homeDir: homedir() });
}

/** A client for the administrator of the shared control plane, with these options. */
export async function testClient(options: Partial<KubeClientOptions> = {}): Promise<KubeClient> {
  return createKubeClient({ config: await clusterConfig(), ...options });
}
