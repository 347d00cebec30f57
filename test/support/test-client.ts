// Clients of the shared control plane, and the handful of resource types that tests of the runtime write.
import { homedir } from "node:os";
import { defineResource, type KubeObject } from "@firebolt-operator/kube";
import {
  type ClusterConfig,
  createKubeClient,
  type KubeClient,
  type KubeClientOptions,
  loadKubeconfig,
} from "@firebolt-operator/kube/client";
import { inject } from "vitest";

export const Secret = defineResource<KubeObject>({
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  namespaced: true,
});
export const ServiceAccount = defineResource<KubeObject>({
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
});
export const Pod = defineResource<KubeObject & { spec?: object; status?: object }>({
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
});

/** How to reach the shared control plane (or the one of this kubeconfig). */
export function clusterConfig(path: string = inject("adminKubeconfig")): Promise<ClusterConfig> {
  return loadKubeconfig({ path, env: {}, homeDir: homedir() });
}

/** A client for the administrator of the shared control plane, or for whoever the options say. */
export async function testClient(options: Partial<KubeClientOptions> = {}): Promise<KubeClient> {
  return createKubeClient({ config: await clusterConfig(), ...options });
}
