// One state of the system: the cluster, what the leader has not observed of it yet, manual changes, and a former leader
// that is halted in the middle of a pass.
import type { Call } from "./calls.ts";
import type { Cluster, Kind } from "./cluster.ts";
import { countersOf } from "./facts.ts";

/** Kinds whose watch stands still, each with what it last showed. A kind that is not listed is up to date. */
export type Lag = Partial<Pick<Cluster, Kind>>;

/** Foreign changes since the operator last repaired them. */
export interface Touched {
  readonly routing: boolean;
  readonly statefulSets: readonly number[];
}

/**
 * A pass that stopped before its call number `at`. To go on it is run again from its start, which is exact: passes are
 * deterministic.
 */
export interface PausedPass {
  readonly cluster: Cluster;
  readonly lag: Lag;
  readonly startKey: string;
  readonly at: number;
  /** The cluster when it stopped. */
  readonly stoppedAt: Cluster;
}

export interface System {
  readonly cluster: Cluster;
  readonly lag: Lag;
  readonly touched: Touched;
  readonly paused: PausedPass | undefined;
  /** A process that does not lead yet, some of whose watches stand still. Those that are not listed are up to date. */
  readonly standby?: Lag;
}

export const UNTOUCHED: Touched = { routing: false, statefulSets: [] };

/** The cluster as a process sees it through its caches. */
export function seenThrough(cluster: Cluster, lag: Lag): Cluster {
  return { ...cluster, ...lag };
}

/** What the operator has written is its own again. */
export function touchedAfter(touched: Touched, cluster: Cluster, calls: readonly Call[]): Touched {
  const routes = calls.flatMap(({ request, before, after }) =>
    request.type === "route" && before !== after ? [{ to: request.write.generation, before }] : [],
  );
  const last = routes.at(-1);
  if (!touched.routing && touched.statefulSets.length === 0 && last === undefined) return touched;
  const { current, active, draining } = countersOf(cluster.engine?.status);
  const statefulSets = touched.statefulSets.filter((generation) => [current, active, draining].includes(generation));
  // A generation that is switched back to serves before the status shows it.
  const isSwitchBack = last !== undefined && last.to === countersOf(last.before.engine?.status).draining;
  return {
    routing: last === undefined ? touched.routing && !switchedBack(calls) : isSwitchBack && !switchedBack(calls),
    statefulSets,
  };
}

/** The status follows the Service to the generation that was switched back to. */
function switchedBack(calls: readonly Call[]): boolean {
  return calls.some(({ request, before, after }) => {
    if (request.type !== "status" || before === after) return false;
    const from = countersOf(before.engine?.status);
    return from.draining !== undefined && request.status.activeGeneration === from.draining;
  });
}
