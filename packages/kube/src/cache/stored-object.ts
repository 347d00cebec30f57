// Converts an object from the API server into the entry that a cache keeps: managedFields dropped, trimmed, repeated
// strings shared, frozen on request. Rejects objects without identity; does not compare versions.
import type { Logger } from "../core/logger.ts";
import type { DeepReadonly, KubeObject, ObjectMeta } from "../core/object.ts";
import { apiVersionOf, type ResourceType } from "../core/resource.ts";
import { StringPool } from "./string-pool.ts";

/** One cached object, with the fields that identify and order it. */
export interface Entry<T extends KubeObject> {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  /** Empty for the few APIs that return objects without one. */
  readonly uid: string;
  readonly version: string;
  readonly object: DeepReadonly<T>;
}

/** The API server sent something that is not a stored object. */
export class MalformedObjectError extends Error {
  override readonly name = "MalformedObjectError";
}

export interface ShaperOptions<T extends KubeObject> {
  readonly type: ResourceType<T>;
  readonly logger: Logger;
  readonly trim?: ((object: T) => T) | undefined;
  readonly freeze?: boolean | undefined;
}

/** Makes an entry of an object that the caller gives up: the object itself is modified and kept. */
export type Shaper<T extends KubeObject> = (object: T) => Entry<T>;

export function createShaper<T extends KubeObject>(options: ShaperOptions<T>): Shaper<T> {
  const { type, logger, trim } = options;
  const apiVersion = apiVersionOf(type);
  const pool = new StringPool();

  const trimmed = (object: T, name: string): T => {
    if (trim === undefined) return object;
    try {
      return trim(object);
    } catch (error) {
      // Trimming only saves memory: the whole object serves every reader equally well.
      logger.error("trimming failed, the object is kept whole", error, { kind: type.kind, name });
      return object;
    }
  };

  return (object) => {
    const { name, namespace, uid, version, metadata } = identityOf(object, type.kind, pool);
    const base: KubeObject = object;
    base.metadata = metadata;
    // Items of a list carry neither; readers must not see a difference.
    base.apiVersion = apiVersion;
    base.kind = type.kind;
    const kept = trimmed(object, name);
    if (options.freeze === true) freezeDeep(kept);
    return { namespace, name, uid, version, object: kept as DeepReadonly<T> };
  };
}

/** A deep copy of plain JSON data, for objects that another party holds too. */
export function copyJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyJson);
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) copy[key] = copyJson(Reflect.get(value, key));
  return copy;
}

interface Identity extends Omit<Entry<KubeObject>, "object"> {
  readonly metadata: ObjectMeta;
}

function identityOf(object: KubeObject, kind: string, pool: StringPool): Identity {
  if (typeof object !== "object" || object === null || typeof object.metadata !== "object" || object.metadata === null)
    throw new MalformedObjectError(`${kind} has no metadata`);
  const { managedFields: _, ...metadata } = object.metadata;
  const { name, namespace = "", uid = "", resourceVersion: version } = metadata;
  if (typeof name !== "string" || name === "") throw new MalformedObjectError(`${kind} has no metadata.name`);
  if (typeof version !== "string" || version === "")
    throw new MalformedObjectError(`${kind} ${name} has no metadata.resourceVersion`);
  if (typeof namespace !== "string" || typeof uid !== "string")
    throw new MalformedObjectError(`${kind} ${name} has a metadata.namespace or metadata.uid that is not a string`);
  pool.shareMetadata(metadata);
  return { name, namespace: metadata.namespace ?? "", uid, version, metadata };
}

function freezeDeep(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const field of Object.values(value)) freezeDeep(field);
}
