// Storage for simulated pods: a default StorageClass and a volume for PostgreSQL's claim, without which its pod would never be scheduled.
// Nothing is ever written to it.
import { openApiFromKubeconfig } from "@firebolt-operator/kube/testing";

const CLASS = "simulated";

export async function addStorage(adminKubeconfig: string): Promise<void> {
  const api = openApiFromKubeconfig(adminKubeconfig);
  try {
    await api.expect({ method: "POST", path: "/apis/storage.k8s.io/v1/storageclasses", body: renderClass() });
    await api.expect({ method: "POST", path: "/api/v1/persistentvolumes", body: renderVolume() });
  } finally {
    api.close();
  }
}

function renderClass() {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: CLASS, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "Immediate",
  };
}

function renderVolume() {
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "simulated-0" },
    spec: {
      storageClassName: CLASS,
      capacity: { storage: "10Gi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      hostPath: { path: "/nowhere" },
    },
  };
}
