// What the pods of the active generation were last found to run (docs/design/auto-stop.md#activity). Whatever goes
// wrong on the way is a result ("failed"), never an exception and never zero; waits for no pod.

import { isForbidden } from "@firebolt-operator/kube";
import type { Activity, ActivityRequest } from "../auto-stop/decide.ts";
import type { EngineCluster } from "../cluster/engine-cluster.ts";
import type { Pod } from "../model/children.ts";
import { mayRunQueries } from "../model/pod-state.ts";
import { causeOf, forbiddenIf } from "../probe/probe-cause.ts";

type World = Pick<EngineCluster, "pods" | "listPods" | "queries" | "signal">;

/** Pending: the pods are being probed. */
export async function observeActivity(cluster: World, request: ActivityRequest): Promise<Activity | "pending"> {
  const { identity, active, replicas, mode, sinceMs, freshMs } = request;
  if (replicas === 0) return { type: "notProbed" };
  if (active < 0) return { type: "failed", cause: "no generation has served yet" };
  const pods = await podsOf(cluster, request);
  if ("cause" in pods) return pods;
  const running = pods.filter(mayRunQueries);
  if (running.length === 0) return { type: "failed", cause: "no pod is running" };
  const probe = await cluster.queries(identity, running, { mode, sinceMs, freshMs });
  switch (probe.type) {
    case "pending":
      return "pending";
    case "failing":
      return { ...forbiddenIf(probe.isForbidden === true), type: "failed", cause: `pod ${probe.pod}: ${probe.cause}` };
    case "busy":
      return { type: "read", queries: probe.queries };
    case "idle":
      return { type: "read", queries: 0 };
    default:
      return probe satisfies never;
  }
}

/** A cache that shows fewer running pods than there should be may not have seen a busy one. */
async function podsOf(
  cluster: World,
  request: ActivityRequest,
): Promise<readonly Pod[] | Extract<Activity, { type: "failed" }>> {
  const { identity, active, replicas } = request;
  const cached = cluster.pods(identity, active);
  if (cached.length >= replicas && cached.every(mayRunQueries)) return cached;
  try {
    return await cluster.listPods(identity, active);
  } catch (error) {
    if (cluster.signal.aborted) throw error;
    return { ...forbiddenIf(isForbidden(error)), type: "failed", cause: causeOf(error) };
  }
}
