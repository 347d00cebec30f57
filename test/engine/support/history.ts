// An independent observer of one namespace: every version of every engine, StatefulSet, Service, ConfigMap and pod, in the order
// in which the API server stored them. It shares nothing with the operator and checks nothing; invariants.ts does.
import type { KubeObject, ResourceType } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import type { V1ConfigMap, V1Pod, V1Service, V1StatefulSet } from "../../../src/api/generated/kubernetes.ts";
import { configMaps, pods, services, statefulSets } from "../../../src/engine/cluster/kinds.ts";

interface Kinds {
  readonly FireboltEngine: FireboltEngine;
  readonly StatefulSet: V1StatefulSet;
  readonly Service: V1Service;
  readonly ConfigMap: V1ConfigMap;
  readonly Pod: V1Pod;
}
export type SeenKind = keyof Kinds;

export interface SeenOf<K extends SeenKind> {
  readonly kind: K;
  readonly name: string;
  /** The API server counts all kinds with one counter, so versions order everything. */
  readonly version: bigint;
  readonly change: "stored" | "removed";
  readonly object: Kinds[K];
  readonly atMs: number;
}
export type Seen = { readonly [K in SeenKind]: SeenOf<K> }[SeenKind];

export interface EngineHistory extends AsyncDisposable {
  /** In the order of storage. */
  all(): readonly Seen[];
  /** Every version of one kind, in order; of one object, if a name is given. */
  of<K extends SeenKind>(kind: K, name?: string): readonly SeenOf<K>[];
  /** The newest version, unless it is gone. */
  latest<K extends SeenKind>(kind: K, name: string): Kinds[K] | undefined;
  /** What is there now, by name. */
  present<K extends SeenKind>(kind: K): readonly Kinds[K][];
}

const WATCH_SECONDS = 1_800;

/** Answers once all kinds are being watched. */
export async function watchEngineHistory(client: KubeClient, namespace: string): Promise<EngineHistory> {
  const stop = new AbortController();
  const seen: Seen[] = [];
  const newest = new Map<string, Seen>();
  const follow = <K extends SeenKind>(kind: K, type: ResourceType<Kinds[K] & KubeObject>) => {
    const started = Promise.withResolvers<void>();
    const run = async (): Promise<void> => {
      const common = {
        signal: stop.signal,
        namespace,
        timeoutSeconds: WATCH_SECONDS,
        idleTimeoutMs: WATCH_SECONDS * 1_000,
      };
      // Known once the present state is complete: its objects come in no order.
      let position: string | undefined;
      // The server drops a slow watcher. Resuming from the last version misses nothing; if that version is too old, the
      // server sends an ERROR.
      while (!stop.signal.aborted) {
        const from =
          position === undefined
            ? ({ sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" } as const)
            : { resourceVersion: position };
        for await (const event of client.watch<Kinds[K] & KubeObject>(type, { ...common, ...from })) {
          if (event.type === "ERROR") throw new Error(`the watch of ${kind} failed: ${JSON.stringify(event.object)}`);
          const { name = "", resourceVersion = "0" } = event.object.metadata ?? {};
          if (event.type === "BOOKMARK" || position !== undefined) position = resourceVersion;
          if (event.type === "BOOKMARK") {
            started.resolve();
            continue;
          }
          const change = event.type === "DELETED" ? "removed" : "stored";
          const entry = { kind, name, version: BigInt(resourceVersion), change, object: event.object } as const;
          const stamped = { ...entry, atMs: performance.now() } as unknown as Seen;
          seen.push(stamped);
          newest.set(`${kind}/${name}`, stamped);
        }
        if (position === undefined) throw new Error(`the watch of ${kind} ended before it had begun`);
      }
    };
    const running = run().catch((error: unknown) => {
      if (stop.signal.aborted) return;
      started.reject(error);
      throw error;
    });
    return { started: started.promise, running };
  };
  const follows = [
    follow("FireboltEngine", FireboltEngine),
    follow("StatefulSet", statefulSets),
    follow("Service", services),
    follow("ConfigMap", configMaps),
    follow("Pod", pods),
  ];
  await Promise.all(follows.map(({ started }) => started));
  const is =
    <K extends SeenKind>(kind: K, name?: string) =>
    (entry: Seen): entry is Seen & SeenOf<K> =>
      entry.kind === kind && (name === undefined || entry.name === name);
  return {
    all: () => inOrder(seen),
    of: (kind, name) => inOrder(seen.filter(is(kind, name))),
    latest(kind, name) {
      const entry = newest.get(`${kind}/${name}`);
      return entry !== undefined && entry.change === "stored" && is(kind)(entry) ? entry.object : undefined;
    },
    present: (kind) =>
      [...newest.values()]
        .filter(is(kind))
        .filter(({ change }) => change === "stored")
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ object }) => object),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(follows.map(({ running }) => running));
    },
  };
}

function inOrder<S extends Seen>(entries: readonly S[]): readonly S[] {
  return entries.toSorted((a, b) => (a.version < b.version ? -1 : a.version > b.version ? 1 : 0));
}
