// The last events of an object and of its children, newest last. Reads them; the caller renders them.
import { isForbidden } from "@firebolt-operator/kube";
import type { CoreV1Event } from "../../api/generated/kubernetes.ts";
import { coreEvents } from "../../engine/cluster/kinds.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { listObjects } from "../cluster/find-object.ts";

export interface EventView {
  readonly lastSeen: string;
  readonly type: string;
  readonly object: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

/** `belongs` decides by kind and name. Empty for users who may not list events. */
export async function lastEvents(
  cluster: Cluster,
  belongs: (kind: string, name: string) => boolean,
  limit: number,
): Promise<readonly EventView[]> {
  try {
    const { items } = await listObjects(cluster, coreEvents, { namespace: cluster.namespace });
    const about = items.filter(({ involvedObject: { kind = "", name = "" } }) => belongs(kind, name));
    return newestOf(about.map(viewEvent), limit);
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
}

/** Up to half of them are the operator's own: failing pods have so many events that they would hide those. */
export function newestOf(events: readonly EventView[], limit: number): readonly EventView[] {
  const sorted = events.toSorted((a, b) => a.lastSeen.localeCompare(b.lastSeen));
  const own = sorted.filter(({ object }) => object.startsWith("firebolt")).slice(-Math.ceil(limit / 2));
  const others = sorted.filter((event) => !own.includes(event)).slice(-(limit - own.length));
  return sorted.filter((event) => own.includes(event) || others.includes(event));
}

export function viewEvent({ involvedObject, series, metadata, ...event }: CoreV1Event): EventView {
  return {
    lastSeen:
      series?.lastObservedTime ||
      event.lastTimestamp ||
      event.eventTime ||
      event.firstTimestamp ||
      metadata.creationTimestamp ||
      "",
    type: event.type ?? "",
    object: `${(involvedObject.kind ?? "").toLowerCase()}/${involvedObject.name ?? ""}`,
    reason: event.reason ?? "",
    message: event.message ?? "",
    count: event.count ?? series?.count ?? 1,
  };
}
