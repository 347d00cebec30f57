// The manifest that `engine create` applies: exactly what the flags set. Pure.
import { API_VERSION, ENGINE_NAMES } from "../../api/group.ts";
import { ENGINE_CONTAINER } from "../../engine/model/pod-contract.ts";
import { present } from "../../podtemplate/present.ts";

export interface EngineOptions {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly instance: string;
  readonly replicas: number;
  readonly engineClass: string;
  readonly image: string;
  readonly bucket: string;
  readonly storageType: string;
  readonly hostPath: string;
}

export function engineManifest(options: EngineOptions) {
  const { name, namespace, instance, replicas, engineClass, image, bucket, storageType, hostPath } = options;
  return {
    apiVersion: API_VERSION,
    kind: ENGINE_NAMES.kind,
    metadata: present({ name, namespace }),
    spec: present({
      instanceRef: instance,
      engineClassRef: engineClass || undefined,
      replicas,
      template: image === "" ? undefined : { spec: { containers: [{ name: ENGINE_CONTAINER, image }] } },
      storage: hostPath === "" ? undefined : { hostPath: { path: hostPath, type: "DirectoryOrCreate" } },
      customEngineConfig:
        bucket === ""
          ? undefined
          : { storage: { managed_table_storage: storageType, managed_table_bucket_name: bucket } },
    }),
  };
}

/** Whether an engine configuration names a bucket: an engine does not start without one. */
export function namesBucket(config: unknown): boolean {
  const storage = fieldOf(config, "storage");
  const bucket = fieldOf(storage, "managed_table_bucket_name");
  return typeof bucket === "string" && bucket !== "";
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
