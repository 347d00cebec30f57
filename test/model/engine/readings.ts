// How the model's cluster serves reads that are more than a look-up: children by label, pods as objects, a pod's
// metrics.
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";
import { LABEL } from "../../../src/api/labels.ts";
import type { ScrapeResponse } from "../../../src/engine/cluster/pod-scrape.ts";
import type { ChildKind, ChildObject, Pod } from "../../../src/engine/model/children.ts";
import type { ProbeRequest, QueryProbe } from "../../../src/engine/probe/query-probe.ts";
import { probeInOrder } from "../../engine/support/fake-prober.ts";
import { type Cluster, type Metadata, type Mood, mapOf, PROBE_KEPT_MS, placeOf, podObjectsOf } from "./cluster.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

const IDLE = `${GAUGE.running} 0\n${GAUGE.suspended} 0\n`;
const BUSY = `${GAUGE.running} 0\n${GAUGE.suspended} 1\n`;

export function childrenIn(cluster: Cluster, kind: ChildKind): readonly ChildObject[] {
  return [...cluster[mapOf(kind)].values()].flatMap(({ metadata }) =>
    metadata?.labels?.[LABEL.engine] === undefined ? [] : [{ kind, metadata }],
  );
}

export function podsIn(cluster: Cluster, statefulSet: string): readonly Pod[] {
  const group = cluster.pods.get(statefulSet);
  return group === undefined ? [] : podObjectsOf(statefulSet, group);
}

/** What a label selector lets into a cache. */
export function labelled<T extends { readonly metadata?: Metadata }>(object: T | undefined): T | undefined {
  return object?.metadata?.labels?.[LABEL.engine] === undefined ? undefined : object;
}

/**
 * What the pods run now, or what they were last found to run if results are remembered. Undefined: there is no result
 * that counts.
 */
export function queriesIn(cluster: Cluster, pods: readonly Pod[], { sinceMs }: ProbeRequest): QueryProbe | undefined {
  const { remembers } = cluster.settings;
  const moodOf = (pod: string): Mood | undefined => {
    const [set, ordinal] = placeOf(pod);
    if (!remembers) return cluster.pods.get(set)?.moods[ordinal];
    const { moods = [], atMs = 0 } = cluster.probes.get(set) ?? {};
    return atMs >= sinceMs && cluster.nowMs - atMs <= PROBE_KEPT_MS ? moods[ordinal] : undefined;
  };
  const names = pods.map(({ metadata }) => metadata?.name ?? "");
  if (remembers && names.some((name) => moodOf(name) === undefined)) return undefined;
  return probeInOrder(pods, (pod) => metricsOf(pod, moodOf(pod)));
}

function metricsOf(pod: string, mood: Mood | undefined): ScrapeResponse {
  if (mood === "busy" || mood === "unreadyBusy") return { status: 200, body: BUSY };
  if (mood === "idle" || mood === "unready") return { status: 200, body: IDLE };
  // Two ways of saying nothing.
  if (mood === "silent" && pod.endsWith("-1")) return { status: 200, body: `${GAUGE.running} 0\n` };
  throw new Error(`no metrics from ${pod}`);
}
