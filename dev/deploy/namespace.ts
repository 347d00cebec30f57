// A namespace in which only pods that pass Pod Security "restricted" are admitted.
import { defineResource, type KubeObject } from "@firebolt-operator/kube";
import type { Connection } from "./connection.ts";

export const FIELD_MANAGER = "firebolt-playground";

export const namespaces = defineResource<KubeObject>({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});

export async function applyNamespace({ client, call }: Connection, name: string): Promise<void> {
  await client.apply(namespaces, renderNamespace(name), { ...call, fieldManager: FIELD_MANAGER, force: true });
}

export function renderNamespace(name: string): KubeObject {
  const labels = {
    "pod-security.kubernetes.io/enforce": "restricted",
    "pod-security.kubernetes.io/enforce-version": "latest",
  };
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
}
