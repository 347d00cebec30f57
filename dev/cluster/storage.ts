// The local cluster's storage: a default StorageClass, and a provisioner that creates a volume below the cluster's
// folder for every claim of that class and removes it, with its data, when the claim is deleted. Sizes are not
// enforced.
import { appendFileSync, chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, valueAt } from "@firebolt-operator/kube/testing";

export const STORAGE_CLASS = "local-folders";
const PROVISIONER = "firebolt.io/local-folders";
const POLL_MS = 200;
const CLAIMS = "/api/v1/persistentvolumeclaims";
const VOLUMES = "/api/v1/persistentvolumes";

export interface StorageOptions {
  readonly api: Api;
  readonly nodeName: string;
  /** The cluster's folder: volumes are created in `volumes` below it. */
  readonly folder: string;
}

/** Creates the class and provisions its claims until it is disposed of. */
export async function startStorage({ api, nodeName, folder }: StorageOptions): Promise<AsyncDisposable> {
  await createStorageClass(api);
  const stopping = new AbortController();
  const serving = provisionVolumes({ api, nodeName, folder }, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await serving;
    },
  };
}

async function createStorageClass(api: Api): Promise<void> {
  const body = {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: STORAGE_CLASS, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: PROVISIONER,
    reclaimPolicy: "Delete",
    volumeBindingMode: "Immediate",
  };
  await api.expect({ method: "POST", path: "/apis/storage.k8s.io/v1/storageclasses", body }, [409]);
}

async function provisionVolumes(options: StorageOptions, signal: AbortSignal): Promise<void> {
  const log = join(options.folder, "logs", "storage.log");
  const volumes = { ...options, folder: join(options.folder, "volumes") };
  while (!signal.aborted) {
    try {
      await serveClaims(volumes, signal);
      await removeReleased(volumes, signal);
    } catch (error) {
      if (!signal.aborted) appendFileSync(log, `${String(error)}\n`);
    }
    // Polled rather than watched: polling survives restarts of the API server without extra code.
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function serveClaims({ api, nodeName, folder }: StorageOptions, signal: AbortSignal): Promise<void> {
  for (const claim of await list(api, CLAIMS, signal)) {
    if (valueAt(claim, ["status", "phase"]) !== "Pending") continue;
    if (valueAt(claim, ["spec", "storageClassName"]) !== STORAGE_CLASS) continue;
    if (valueAt(claim, ["spec", "volumeName"]) !== undefined) continue;
    const volume = renderVolume(claim, { nodeName, folder });
    const path = volume.spec.local.path;
    mkdirSync(path, { recursive: true });
    // Pods run as different users; the kubelet changes the folder's group only if the pod sets one.
    chmodSync(path, 0o777);
    await api.expect({ method: "POST", path: VOLUMES, body: volume, signal }, [409]);
  }
}

async function removeReleased({ api, folder }: StorageOptions, signal: AbortSignal): Promise<void> {
  for (const volume of await list(api, VOLUMES, signal)) {
    if (valueAt(volume, ["metadata", "annotations", "pv.kubernetes.io/provisioned-by"]) !== PROVISIONER) continue;
    if (valueAt(volume, ["status", "phase"]) !== "Released") continue;
    if (valueAt(volume, ["spec", "persistentVolumeReclaimPolicy"]) !== "Delete") continue;
    const path = textAt(volume, ["spec", "local", "path"]);
    if (!path.startsWith(`${folder}/`)) throw new Error(`volume at ${path} is not below ${folder}: it stays`);
    rmSync(path, { recursive: true, force: true });
    const name = textAt(volume, ["metadata", "name"]);
    await api.expect({ method: "DELETE", path: `${VOLUMES}/${name}`, signal }, [404]);
  }
}

/** A volume for this claim and no other. A local one, not a host path: only local ones honour a pod's `fsGroup`. */
export function renderVolume(
  claim: unknown,
  { nodeName, folder }: { readonly nodeName: string; readonly folder: string },
) {
  const uid = textAt(claim, ["metadata", "uid"]);
  const name = `pvc-${uid}`;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, annotations: { "pv.kubernetes.io/provisioned-by": PROVISIONER } },
    spec: {
      storageClassName: STORAGE_CLASS,
      persistentVolumeReclaimPolicy: "Delete",
      capacity: { storage: textAt(claim, ["spec", "resources", "requests", "storage"]) },
      accessModes: valueAt(claim, ["spec", "accessModes"]),
      claimRef: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        namespace: textAt(claim, ["metadata", "namespace"]),
        name: textAt(claim, ["metadata", "name"]),
        uid,
      },
      local: { path: join(folder, name) },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [nodeName] }] },
          ],
        },
      },
    },
  };
}

async function list(api: Api, path: string, signal: AbortSignal): Promise<readonly unknown[]> {
  const items = valueAt((await api.expect({ path, signal })).body, ["items"]);
  return Array.isArray(items) ? items : [];
}

function textAt(root: unknown, keys: readonly string[]): string {
  const value = valueAt(root, keys);
  if (typeof value !== "string") throw new Error(`an object without ${keys.join(".")}: ${JSON.stringify(root)}`);
  return value;
}
