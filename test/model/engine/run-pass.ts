// Runs the operator's real pass over a state of the model, to its end or to where it is made to stop, and keeps what it
// did.
import { silentLogger } from "@firebolt-operator/kube";
import type { NextCheck } from "@firebolt-operator/kube/controller";
import { OPERATOR_DEFAULTS } from "../../../src/api/operator-defaults.ts";
import { noEngineMetrics } from "../../../src/engine/metrics-hooks.ts";
import { type PassDeps, runEnginePass } from "../../../src/engine/pass/pass.ts";
import { type Call, isWrite, type Plan } from "./calls.ts";
import { type Cluster, withMap } from "./cluster.ts";
import { countersOf } from "./facts.ts";
import { KEY } from "./fixtures.ts";
import { ModelEngineCluster } from "./model-engine-cluster.ts";
import { type Lag, seenThrough } from "./system.ts";

export interface PassRecord {
  /** What the process saw: its caches when it began, and what it then read from the API server. */
  readonly seen: Cluster;
  readonly start: Cluster;
  readonly calls: readonly Call[];
  readonly outcome: NextCheck | Error;
  /** The cluster and what the process has not seen of it, afterwards. */
  readonly cluster: Cluster;
  readonly lag: Lag;
  readonly plan: Plan;
}

const DEPS: Omit<PassDeps, "drainSettleMs" | "nowMs"> = {
  defaults: OPERATOR_DEFAULTS,
  bounds: {},
  events: { record: () => undefined },
  metrics: noEngineMetrics,
  logger: silentLogger,
};

export async function runPass(start: Cluster, lag: Lag, plan: Plan = {}): Promise<PassRecord> {
  const world = new ModelEngineCluster(start, lag, plan);
  const seen = seenThrough(start, lag);
  let outcome: NextCheck | Error;
  try {
    const { settleMs: drainSettleMs } = start.settings;
    outcome = await runEnginePass(world, KEY, { ...DEPS, drainSettleMs, nowMs: () => world.cluster.nowMs });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    outcome = error;
  }
  return {
    seen: withAnswers(seen, world.calls),
    start,
    calls: world.calls,
    outcome,
    cluster: world.cluster,
    lag: world.lag,
    plan,
  };
}

/** Objects that no cache showed, but the API server did. */
function withAnswers(seen: Cluster, calls: readonly Call[]): Cluster {
  let more = seen;
  for (const call of calls) {
    const { request, accepted, before } = call;
    // What is read after a write decides nothing any more.
    if (isWrite(call)) break;
    if (request.type !== "read" || !accepted) continue;
    const [set, service] = [before.statefulSets.get(request.what), before.services.get(request.what)];
    if (set !== undefined && !more.statefulSets.has(request.what))
      more = { ...more, statefulSets: withMap(more.statefulSets, request.what, set) };
    // The Service that decides a deletion is taken from the API server, whatever the cache shows.
    if (service !== undefined) more = { ...more, services: withMap(more.services, request.what, service) };
  }
  return more;
}

/** The calls of a pass in a line. */
export function describePass({ calls, outcome }: PassRecord, count = calls.length): string {
  const texts = calls.slice(0, count).map(({ request, accepted }) => {
    const mark = accepted ? "" : " (refused)";
    switch (request.type) {
      case "read":
        return `read ${request.what}${mark}`;
      case "probe":
        return `probe ${request.set}${mark}`;
      case "scale":
        return `scale to ${request.replicas}${mark}`;
      case "finalizer":
        return `${request.present ? "add" : "remove"} finalizer${mark}`;
      case "apply":
      case "create":
        return `${request.type} ${request.object.metadata?.name}${mark}`;
      case "route":
        return `route to ${request.write.generation}${mark}`;
      case "remove":
        return `delete ${request.removal.name}${mark}`;
      case "status": {
        const { phase, current, active, draining } = countersOf(request.status);
        return `status ${phase} ${current}/${active}${draining === undefined ? "" : `/${draining}`}${mark}`;
      }
      default:
        return request satisfies never;
    }
  });
  const end = outcome instanceof Error && count === calls.length ? ` → ${outcome.name}: ${outcome.message}` : "";
  return `pass [${texts.join(", ")}]${end}`;
}
