// From an object as the API server sent it to the entry that the cache keeps: managedFields dropped, trimmed, repeated strings
// shared, frozen when asked. Refuses what has no identity; decides nothing about old and new.
import type { Logger } from "../core/logger.ts";
import type { DeepReadonly, KubeObject, ObjectMeta } from "../core/object.ts";
import { apiVersionOf, type ResourceType } from "../core/resource.ts";
import { StringPool } from "./string-pool.ts";

/** One object in the cache, with the fields that decide its place and age at hand. */
export interface Entry<T extends KubeObject> {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  /** Empty for the few APIs that hand out objects without one. */
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

/** Makes an entry of an object that nobody else holds: the object itself is changed and kept. */
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
      // Trimming only saves memory: the whole object serves every reader just as well.
      logger.error("trimming failed; the object is kept whole", error, { kind: type.kind, name });
      return object;
    }
  };

  return (object) => {
    const { name, namespace, uid, version, metadata } = identityOf(object, type.kind, pool);
    const base: KubeObject = object;
    base.metadata = metadata;
    // Items of a list carry neither; readers should not see where an object came from.
    base.apiVersion = apiVersion;
    base.kind = type.kind;
    const kept = trimmed(object, name);
    if (options.freeze === true) freezeDeep(kept);
    return { namespace, name, uid, version, object: kept as DeepReadonly<T> };
  };
}

/** A copy of plain JSON data, for objects that somebody else holds too. */
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
    throw new MalformedObjectError(`${kind} without metadata`);
  const { managedFields: _, ...metadata } = object.metadata;
  const { name, namespace = "", uid = "", resourceVersion: version } = metadata;
  if (typeof name !== "string" || name === "") throw new MalformedObjectError(`${kind} without metadata.name`);
  if (typeof version !== "string" || version === "")
    throw new MalformedObjectError(`${kind} ${name} without metadata.resourceVersion`);
  if (typeof namespace !== "string" || typeof uid !== "string")
    throw new MalformedObjectError(`${kind} ${name} with a metadata.namespace or metadata.uid that is not text`);
  pool.shareMetadata(metadata);
  return { name, namespace: metadata.namespace ?? "", uid, version, metadata };
}

function freezeDeep(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const field of Object.values(value)) freezeDeep(field);
}
