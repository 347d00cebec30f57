// Reads what is known of a generation that drains: its pods, the queries they run, and whether it is too early to
// probe. Decides nothing.
import { INSTANCE_DEFAULTS } from "../../api/defaults.ts";
import type { EngineCluster } from "../cluster/engine-cluster.ts";
import { controllerUid, type Engine, type Pod } from "../model/children.ts";
import type { EngineIdentity } from "../model/names.ts";
import type { StoredPhase } from "../model/phase.ts";
import { mayDrain, NO_PODS, podCount, replicasOf } from "../model/pod-state.ts";
import type { DrainProbe, DrainSettings, EngineSnapshot, GenerationSet } from "../model/snapshot.ts";

/** How long gateways that discover endpoints have to learn of a switch. They are read after that, and not before. */
export const DISCOVERED_SETTLE_MS = 5_000;
/** After gateways that did not all report so. */
const DISCOVERY_RETRY_MS = 10_000;

export interface DrainView {
  readonly cluster: EngineCluster;
  readonly engine: Engine;
  readonly identity: EngineIdentity;
  readonly phase: StoredPhase;
  readonly draining: GenerationSet | undefined;
  readonly drain: DrainSettings;
  readonly instance: EngineSnapshot["instance"];
  readonly nowMs: number;
}

/** What is known of the pods of the draining generation. */
export async function observeDrain(
  view: DrainView,
): Promise<Pick<EngineSnapshot, "drainingPods" | "orphanedPods" | "drainProbe">> {
  const { cluster, identity, phase, draining } = view;
  const nothing = { drainingPods: NO_PODS, orphanedPods: [], drainProbe: { type: "notProbed" } } as const;
  if (draining === undefined) return nothing;
  if (phase === "cleaning") return { ...nothing, orphanedPods: await orphanedPods(view, draining) };
  if (phase !== "draining") return nothing;
  const { statefulSet, generation } = draining;
  const replicas =
    statefulSet.type === "live" || statefulSet.type === "terminating" ? replicasOf(statefulSet.object) : 0;
  const drainingPods = podCount(cluster.pods(identity, generation), replicas, statefulSet.type === "live");
  return { ...nothing, drainingPods, drainProbe: await probeDrain(view, draining, replicas) };
}

async function probeDrain(view: DrainView, { generation }: GenerationSet, replicas: number): Promise<DrainProbe> {
  const { cluster, identity, drain, instance, nowMs } = view;
  if (!drain.required) return { type: "notProbed" };
  const cached = cluster.pods(identity, generation);
  const settledMs = settledAtMs(view, drain.settleMs);
  const earlyMs = settledAtMs(view, Math.min(drain.settleMs, DISCOVERED_SETTLE_MS));
  let sinceMs = nowMs < settledMs ? earlyMs : settledMs;
  // With neither pods nor replicas nothing was ever routed anywhere.
  if (drain.settleMs > 0 && nowMs < settledMs && (replicas > 0 || cached.length > 0)) {
    const early = beforeSettled(view, generation, { earlyMs, settledMs });
    if ("untilMs" in early) return { type: "settling", untilMs: early.untilMs };
    sinceMs = early.sinceMs;
  }
  const pods = await podsToProbe(view, { generation, replicas, cached });
  const probe = await cluster.queries(identity, pods, {
    mode: instance?.spec.metricScrapeMode ?? INSTANCE_DEFAULTS.metricScrapeMode,
    // Once gateways have left the generation, or the whole time is over.
    sinceMs,
    // Less than the interval, so that a check that comes a moment early does not go by the result of the one before.
    freshMs: drain.intervalMs / 2,
  });
  return probe.type === "idle" ? { type: "drained" } : probe;
}

/**
 * Until then clients and gateways may send queries to stale addresses, which DNS servers cache. An unknown moment of
 * the switch is now; so is one that lies ahead, because the clock was set back (the stored moment is rounded up to a
 * second).
 */
function settledAtMs({ engine, nowMs }: DrainView, settleMs: number): number {
  const switchedMs = Date.parse(engine.status?.drainingSince ?? "");
  const knownMs = switchedMs <= nowMs + 1_000 ? switchedMs : nowMs;
  // Without a settle time the second that the stored moment was rounded up by must not become one.
  return settleMs === 0 ? Math.min(knownMs, nowMs) - 1_000 : knownMs + settleMs;
}

/**
 * Whether a probe may count before the settle time is over: once every gateway reports that it sends queries to
 * endpoints which it discovers, and to none of this generation. Only probes from then on (`sinceMs`) count.
 */
function beforeSettled(
  { cluster, identity, nowMs }: DrainView,
  generation: number,
  { earlyMs, settledMs }: { readonly earlyMs: number; readonly settledMs: number },
): { readonly untilMs: number } | { readonly sinceMs: number } {
  if (cluster.departure === undefined) return { untilMs: settledMs };
  if (nowMs < earlyMs) return { untilMs: earlyMs };
  const departure = cluster.departure(identity, { generation, sinceMs: earlyMs });
  if (departure === "pending") return { untilMs: settledMs };
  if (departure === "unknown") return { untilMs: Math.min(settledMs, nowMs + DISCOVERY_RETRY_MS) };
  return { sinceMs: Math.max(earlyMs, departure.leftAtMs) };
}

/**
 * The cache may not have seen a pod that was replaced, or that it runs by now, and that one could be busy: where a pod
 * is missing or would be passed over, they are listed at the API server. The same where no StatefulSet confirms the
 * number.
 */
async function podsToProbe(
  { cluster, identity, draining }: DrainView,
  {
    generation,
    replicas,
    cached,
  }: { readonly generation: number; readonly replicas: number; readonly cached: readonly Pod[] },
): Promise<readonly Pod[]> {
  const isOwned = draining?.statefulSet.type === "live" || draining?.statefulSet.type === "terminating";
  const isSure = isOwned && cached.length >= replicas && cached.every(mayDrain);
  const pods = isSure ? cached : await cluster.listPods(identity, generation);
  return pods.filter(mayDrain);
}

/**
 * A StatefulSet deleted with its pods orphaned leaves them without an owner, and nothing else would ever delete them.
 */
async function orphanedPods(
  { cluster, identity }: DrainView,
  { statefulSet, generation }: GenerationSet,
): Promise<readonly Pod[]> {
  // One of another owner under the name owns none of them either.
  if (statefulSet.type === "live" || statefulSet.type === "terminating") return [];
  const pods = await cluster.listPods(identity, generation);
  return pods.filter(
    ({ metadata }) => metadata?.deletionTimestamp === undefined && controllerUid(metadata) === undefined,
  );
}
