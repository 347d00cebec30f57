// Which data volume an engine gets: its own backend, else the class's, else an emptyDir. Taken whole, never field by
// field.

import { SCHEMA_DEFAULTS } from "../../api/defaults.ts";
import type { EngineStorage } from "../../api/firebolt-engine/storage.ts";
import type { Quantity } from "../../api/generated/kubernetes.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { parseQuantity } from "../../api/values/quantity.ts";

export type EffectiveStorage =
  | { readonly type: "emptyDir"; readonly medium: string | undefined; readonly sizeLimit: Quantity | undefined }
  | { readonly type: "hostPath"; readonly path: string; readonly pathType: string | undefined }
  | {
      readonly type: "persistentVolumeClaim";
      readonly size: Quantity;
      readonly accessModes: readonly string[];
      /** An empty name turns dynamic provisioning off; absent means the cluster's default class. */
      readonly storageClassName: string | undefined;
    };

type Storage = DeepReadonly<EngineStorage> | undefined;

export function resolveStorage(ofClass: Storage, ofEngine: Storage): EffectiveStorage {
  return backendOf(ofEngine) ?? backendOf(ofClass) ?? { type: "emptyDir", medium: undefined, sizeLimit: undefined };
}

function backendOf(storage: Storage): EffectiveStorage | undefined {
  if (storage?.persistentVolumeClaim) {
    const { size, accessModes, storageClassName } = storage.persistentVolumeClaim;
    const { size: defaultSize, accessModes: defaultModes } = SCHEMA_DEFAULTS.persistentVolumeClaim;
    return {
      type: "persistentVolumeClaim",
      // A claim for nothing would be rejected; the API counts zero as "the default".
      size: size === undefined || parseQuantity(size) === 0n ? defaultSize : size,
      accessModes: accessModes === undefined || accessModes.length === 0 ? defaultModes : accessModes,
      storageClassName,
    };
  }
  if (storage?.emptyDir) {
    const { medium, sizeLimit } = storage.emptyDir;
    return { type: "emptyDir", medium: medium === "" ? undefined : medium, sizeLimit };
  }
  if (storage?.hostPath) return { type: "hostPath", path: storage.hostPath.path, pathType: storage.hostPath.type };
  return undefined;
}
