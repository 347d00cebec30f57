// Times of first watch events: one clock for reactions, more precise than the whole seconds in Kubernetes objects.
// Reads only.
import { type DeepReadonly, silentLogger } from "@firebolt-operator/kube";
import { createObjectCache } from "@firebolt-operator/kube/cache";
import type { V1Pod, V1StatefulSet } from "../../src/api/generated/kubernetes.ts";
import { LABEL } from "../../src/api/labels.ts";
import { pods, statefulSets } from "../../src/engine/cluster/kinds.ts";
import { FLEET_NAMESPACE, type Harness } from "./harness.ts";

export interface Sightings extends AsyncDisposable {
  /** Time of the first event of the StatefulSet of this engine's generation. */
  statefulSetMs(engine: string, generation: number): number | undefined;
  /** Time of the first event with a ready pod. */
  podReadyMs(engine: string, generation: number): number | undefined;
}

/** Engines of one replica: one pod per generation. */
export async function openSightings({ client }: Harness, namespace = FLEET_NAMESPACE): Promise<Sightings> {
  const sets = new Map<string, number>();
  const ready = new Map<string, number>();
  const shared = { client, logger: silentLogger, namespaces: [namespace], labelSelector: LABEL.engine };
  const setCache = createObjectCache<V1StatefulSet>({
    ...shared,
    type: statefulSets,
    trim: ({ spec: _, ...rest }) => rest,
  });
  const podCache = createObjectCache<V1Pod>({ ...shared, type: pods, trim: ({ spec: _, ...rest }) => rest });
  const note = (seen: Map<string, number>, object: DeepReadonly<V1Pod | V1StatefulSet>): void => {
    const { labels } = object.metadata ?? {};
    const key = keyOf(labels?.[LABEL.engine] ?? "", Number(labels?.[LABEL.generation]));
    if (!seen.has(key)) seen.set(key, performance.now());
  };
  setCache.onEvent(({ object }) => note(sets, object));
  podCache.onEvent(({ object }) => {
    if (object.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"))
      note(ready, object);
  });
  const stop = new AbortController();
  const running = [setCache.run(stop.signal), podCache.run(stop.signal)];
  await Promise.all([setCache.whenSynced(stop.signal), podCache.whenSynced(stop.signal)]);
  return {
    statefulSetMs: (engine, generation) => sets.get(keyOf(engine, generation)),
    podReadyMs: (engine, generation) => ready.get(keyOf(engine, generation)),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
    },
  };
}

const keyOf = (engine: string, generation: number): string => `${engine}/${generation}`;
