// The way from the class reconciler to the outside, and its implementation over a cluster. Decides nothing.
import { formatKey, isConflict, isNotFound } from "@firebolt-operator/kube";
import type { ObjectCache } from "@firebolt-operator/kube/cache";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { FireboltEngine } from "../api/firebolt-engine/engine.ts";
import { type EngineClassStatus, FireboltEngineClass } from "../api/firebolt-engine/engine-class.ts";
import { FIELD_MANAGER } from "../api/group.ts";
import type { EngineClass } from "./compute.ts";

export interface ClassKey {
  readonly namespace: string;
  readonly name: string;
}

/** Conflict: the class is no longer as it was read. */
export type WriteResult = "written" | "conflict";

export interface EngineClassCluster {
  engineClass(key: ClassKey): EngineClass | undefined;
  /** From the cache. */
  countEngines(key: ClassKey): number;
  /** From the API server, whatever the caches select. */
  countEnginesDirectly(key: ClassKey): Promise<number>;
  addFinalizer(engineClass: EngineClass): Promise<WriteResult>;
  removeFinalizer(engineClass: EngineClass): Promise<WriteResult>;
  writeStatus(engineClass: EngineClass, status: EngineClassStatus): Promise<WriteResult>;
}

export interface EngineClassCaches {
  readonly classes: ObjectCache<FireboltEngineClass>;
  readonly engines: ObjectCache<FireboltEngine>;
  /** Name of the engines' index by `namespace/engineClassRef`. */
  readonly classIndex: string;
}

interface Change {
  readonly finalizers?: readonly string[];
  readonly status?: EngineClassStatus;
}

export function kubeClassCluster(
  client: KubeClient,
  caches: EngineClassCaches,
  signal: AbortSignal,
): EngineClassCluster {
  const patch = async (engineClass: EngineClass, change: Change, subresource?: "status"): Promise<WriteResult> => {
    const { namespace = "", name = "", resourceVersion } = engineClass.metadata ?? {};
    const { finalizers, status } = change;
    const metadata = finalizers === undefined ? { resourceVersion } : { resourceVersion, finalizers };
    const body = status === undefined ? { metadata } : { metadata, status };
    const options = { signal, fieldManager: FIELD_MANAGER, ...(subresource === undefined ? {} : { subresource }) };
    try {
      await client.patch(FireboltEngineClass, { namespace, name }, { type: "merge", body }, options);
      return "written";
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return "conflict";
      throw error;
    }
  };
  const { finalizer } = FireboltEngineClass;
  return {
    engineClass: (key) => caches.classes.get(key),
    countEngines: (key) => caches.engines.byIndex(caches.classIndex, formatKey(key)).length,
    async countEnginesDirectly({ namespace, name }) {
      const { items } = await client.listAll(FireboltEngine, { signal, namespace });
      return items.filter(({ spec }) => spec?.engineClassRef === name).length;
    },
    addFinalizer: (engineClass) =>
      patch(engineClass, { finalizers: [...(engineClass.metadata?.finalizers ?? []), finalizer] }),
    removeFinalizer: (engineClass) =>
      patch(engineClass, { finalizers: (engineClass.metadata?.finalizers ?? []).filter((name) => name !== finalizer) }),
    writeStatus: (engineClass, status) => patch(engineClass, { status }, "status"),
  };
}
