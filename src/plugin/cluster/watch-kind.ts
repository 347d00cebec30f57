// A watch of one kind that is reopened whenever it ends. Keeps no objects.
import {
  isForbidden,
  isNotFound,
  type KubeObject,
  pause,
  type ResourceType,
  systemClock,
} from "@firebolt-operator/kube";
import type { WatchEvent } from "@firebolt-operator/kube/client";
import type { Cluster } from "./cluster.ts";
import type { Scope } from "./find-object.ts";

const WATCH_SECONDS = 300;
const IDLE_MS = 330_000;
const AGAIN_MS = 1_000;

export interface WatchFrom {
  readonly scope: Scope;
  /** Resource version of a list. Without it the watch begins with all existing objects. */
  readonly resourceVersion: string | undefined;
}

/**
 * Ends with the signal. A watch that the server closed continues at its resource version, or from the start when that
 * has expired.
 */
export async function* watchKind<T extends KubeObject>(
  { client, call: { signal } }: Cluster,
  type: ResourceType<T>,
  { scope, resourceVersion }: WatchFrom,
): AsyncGenerator<WatchEvent<T>> {
  let from = resourceVersion;
  while (!signal.aborted) {
    try {
      const events = client.watch(type, {
        signal,
        timeoutSeconds: WATCH_SECONDS,
        idleTimeoutMs: IDLE_MS,
        ...(scope.namespace === undefined ? {} : { namespace: scope.namespace }),
        ...(scope.labelSelector ? { labelSelector: scope.labelSelector } : {}),
        ...(from === undefined ? {} : { resourceVersion: from }),
      });
      for await (const event of events) {
        if (event.type === "ERROR") {
          from = undefined;
          break;
        }
        from = event.object.metadata?.resourceVersion ?? from;
        if (event.type !== "BOOKMARK") yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      // A retry does not help with either; it may with a broken connection.
      if (isForbidden(error) || isNotFound(error)) throw error;
      from = undefined;
    }
    await pause(systemClock, AGAIN_MS, signal);
  }
}
