// The invariants (docs/design/engine.md#invariants) that any stored state must satisfy, whatever happened before. Each
// returns what is wrong, or undefined.
import { LABEL } from "../../../src/api/labels.ts";
import { ENGINE_PHASES } from "../../../src/api/phases.ts";
import { isReadyReasonOf } from "../../../src/api/reasons.ts";
import { isOwnedBy } from "../../../src/engine/model/children.ts";
import { configMapName, statefulSetName } from "../../../src/engine/model/names.ts";
import type { InvariantName } from "../../design/invariant-names.ts";
import { generationInName } from "./cluster.ts";
import { countersOf, isBeingDeleted, isRest, targetOf } from "./facts.ts";
import { NAME } from "./fixtures.ts";
import type { System } from "./system.ts";

type StateInvariant = (system: System) => string | undefined;

const PHASES: ReadonlySet<string> = new Set(["", ...ENGINE_PHASES]);

export const STATE_INVARIANTS: Readonly<Partial<Record<InvariantName, StateInvariant>>> = {
  "status-in-range"({ cluster }) {
    const { phase, current, active, draining } = countersOf(cluster.engine?.status);
    const isSound = PHASES.has(phase) && current >= 0 && active >= -1 && (draining === undefined || draining >= 0);
    return isSound ? undefined : `phase "${phase}", current ${current}, active ${active}, draining ${draining}`;
  },
  "active-never-goes-back"({ cluster }) {
    const { current, active } = countersOf(cluster.engine?.status);
    return active <= current ? undefined : `active ${active} is ahead of current ${current}`;
  },
  "one-generation-at-rest"({ cluster }) {
    const { phase, current, active, draining } = countersOf(cluster.engine?.status);
    if (!isRest(phase) || (current === active && active >= 0 && draining === undefined)) return undefined;
    return `${phase} with current ${current}, active ${active}, draining ${draining}`;
  },
  "draining-only-after-switch"({ cluster }) {
    const { phase, current, active, draining, highest } = countersOf(cluster.engine?.status);
    if (draining === undefined) return undefined;
    const isPlace = phase === "draining" || phase === "cleaning";
    if (isPlace && draining !== current && Math.max(draining, current) <= highest && current === active)
      return undefined;
    return `${phase} with current ${current}, active ${active}, draining ${draining}`;
  },
  "at-most-two-named"({ cluster }) {
    const { current, active, draining } = countersOf(cluster.engine?.status);
    const named = new Set([current, active, draining ?? -1].filter((generation) => generation >= 0));
    return named.size <= 2 ? undefined : `the status names generations ${[...named].join()}`;
  },
  "stateful-set-at-rest"({ cluster, touched }) {
    const { phase, active } = countersOf(cluster.engine?.status);
    if (!isRest(phase) || isBeingDeleted(cluster) || touched.statefulSets.includes(active)) return undefined;
    const set = cluster.statefulSets.get(statefulSetName(NAME, active));
    if (set !== undefined && set.metadata?.deletionTimestamp === undefined) return undefined;
    return `${phase}, and the StatefulSet of generation ${active} is ${set === undefined ? "gone" : "being deleted"}`;
  },
  "routed-to-active-or-current"({ cluster, touched }) {
    const { current, active } = countersOf(cluster.engine?.status);
    if (active < 0 || touched.routing || isBeingDeleted(cluster)) return undefined;
    const target = targetOf(cluster);
    if (target === active || target === current) return undefined;
    return `queries go to generation ${target}, while active is ${active} and current ${current}`;
  },
  /** Pods start with the configuration of their own generation: as many nodes in it as the StatefulSet has replicas. */
  "configuration-of-own-generation"({ cluster, touched }) {
    for (const [name, { metadata, spec }] of cluster.statefulSets) {
      const generation = generationInName(name) ?? -1;
      const nodes = nodesIn(cluster.configMaps.get(configMapName(NAME, generation))?.data);
      const isOwn =
        isOwnedBy(metadata, cluster.engine?.metadata?.uid ?? "") && metadata?.labels?.[LABEL.engine] !== undefined;
      if (!isOwn || metadata?.generation !== 1 || nodes === undefined || touched.statefulSets.includes(generation))
        continue;
      if (nodes !== spec?.replicas)
        return `${name} has ${spec?.replicas} replicas, and its configuration names ${nodes}`;
    }
    return undefined;
  },
  "one-ready-by-the-ladder"({ cluster }) {
    const { phase } = countersOf(cluster.engine?.status);
    if (phase === "" || isBeingDeleted(cluster)) return undefined;
    const ready = (cluster.engine?.status?.conditions ?? []).filter(({ type }) => type === "Ready");
    const reason = ready[0]?.reason ?? "";
    if (ready.length === 1 && isReadyReasonOf(phase, reason)) return undefined;
    return `${phase} with ${ready.length} Ready conditions, reason ${reason}`;
  },
};

const nodeCounts = new WeakMap<object, number>();

/** Undefined where there is no configuration of the operator's. */
function nodesIn(data: Readonly<Record<string, string>> | undefined): number | undefined {
  if (data === undefined) return undefined;
  const known = nodeCounts.get(data);
  if (known !== undefined) return known;
  const count = Object.values(data).join("").split("host").length - 1;
  nodeCounts.set(data, count);
  return count;
}
