// How the model's cluster answers reads that are more than a look-up: children by label, pods as objects, a pod's metrics page.
import { LABEL } from "../../../src/api/labels.ts";
import type { ChildKind, ChildObject, Pod } from "../../../src/engine/children.ts";
import type { ScrapeAnswer } from "../../../src/engine/pod-scrape.ts";
import { type ChildMap, type Cluster, podObjectsOf } from "./cluster.ts";

const KIND_OF = { statefulSets: "StatefulSet", services: "Service", configMaps: "ConfigMap" } as const satisfies Record<
  ChildMap,
  ChildKind
>;
const IDLE = "firebolt_running_queries 0\nfirebolt_suspended_queries 0\n";
const BUSY = "firebolt_running_queries 0\nfirebolt_suspended_queries 1\n";

export function childrenIn(cluster: Cluster, map: ChildMap): readonly ChildObject[] {
  return [...cluster[map].values()].flatMap(({ metadata }) =>
    metadata?.labels?.[LABEL.engine] === undefined ? [] : [{ kind: KIND_OF[map], metadata }],
  );
}

export function podsIn(cluster: Cluster, statefulSet: string): readonly Pod[] {
  const group = cluster.pods.get(statefulSet);
  return group === undefined ? [] : podObjectsOf(statefulSet, group);
}

export function metricsOf(cluster: Cluster, pod: string): ScrapeAnswer {
  const at = pod.lastIndexOf("-");
  const ordinal = Number(pod.slice(at + 1));
  const mood = cluster.pods.get(pod.slice(0, at))?.moods[ordinal];
  if (mood === "busy") return { status: 200, body: BUSY };
  if (mood === "idle" || mood === "unready") return { status: 200, body: IDLE };
  // Two ways of saying nothing.
  if (mood === "silent" && ordinal === 1) return { status: 200, body: "firebolt_running_queries 0\n" };
  throw new Error(`no metrics from ${pod}`);
}
