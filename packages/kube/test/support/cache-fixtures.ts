// Fixtures for tests of the watch cache: small ConfigMaps, and a store that records what it emits.
import type { CacheEvent } from "../../src/cache/cache.ts";
import { ObjectStore, type StoreOptions } from "../../src/cache/object-store.ts";
import { createShaper, type Entry } from "../../src/cache/stored-object.ts";
import { silentLogger } from "../../src/core/logger.ts";
import type { KubeObject, ObjectMeta } from "../../src/core/object.ts";
import { defineResource } from "../../src/core/resource.ts";

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

export const CONFIG_MAPS = defineResource<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});

export const shapeConfigMap = createShaper({ type: CONFIG_MAPS, logger: silentLogger, freeze: true });

/** An object as the server sends it. The uid is derived from the name unless given. */
export function configMap(key: string, version: number | string, more: ObjectMeta = {}): ConfigMap {
  const [namespace, name] = key.split("/");
  if (namespace === undefined || name === undefined) throw new TypeError(`${key} is not namespace/name`);
  const metadata = { name, namespace, uid: `uid-${name}`, resourceVersion: String(version), ...structuredClone(more) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

export function entry(key: string, version: number | string, more: ObjectMeta = {}): Entry<ConfigMap> {
  return shapeConfigMap(configMap(key, version, more));
}

/** A store together with the events it emitted, as `type namespace/name@version origin`. */
export function recordingStore(options: Partial<StoreOptions<ConfigMap>> = {}): {
  readonly store: ObjectStore<ConfigMap>;
  readonly emitted: () => string[];
} {
  let lines: string[] = [];
  const store = new ObjectStore<ConfigMap>({
    indexes: {},
    logger: silentLogger,
    selective: false,
    ...options,
    emit: (events) => lines.push(...events.map(line)),
  });
  return {
    store,
    emitted: () => {
      const before = lines;
      lines = [];
      return before;
    },
  };
}

/** The content of a store or cache as `namespace/name@version`, in its own order. */
export function held(from: { list(): readonly { readonly metadata?: Readonly<ObjectMetaView> }[] }): string[] {
  return from
    .list()
    .map((object) => `${object.metadata?.namespace}/${object.metadata?.name}@${object.metadata?.resourceVersion}`);
}

type ObjectMetaView = Pick<ObjectMeta, "name" | "namespace" | "resourceVersion">;

function line(event: CacheEvent<ConfigMap>): string {
  const { metadata } = event.object;
  return `${event.type} ${metadata?.namespace}/${metadata?.name}@${metadata?.resourceVersion} ${event.origin}`;
}
