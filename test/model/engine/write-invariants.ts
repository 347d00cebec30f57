// The invariants (docs/design/engine.md#invariants) about single writes: what a write may do to the cluster as it is at
// that moment, given what the pass had seen. Each returns what is wrong, or undefined.
import { isDeepStrictEqual } from "node:util";
import { LABEL } from "../../../src/api/labels.ts";
import { isOwnedBy } from "../../../src/engine/model/children.ts";
import { statefulSetName } from "../../../src/engine/model/names.ts";
import type { InvariantName } from "../../design/invariant-names.ts";
import type { Call, Request } from "./calls.ts";
import { type Cluster, generationInName, isBusyMood, placeOf } from "./cluster.ts";
import {
  type Counters,
  countersOf,
  isBeingDeleted,
  isBuiltFor,
  isComplete,
  isGatedPhase,
  isGateOpen,
  isPlain,
  isQuiet,
  isRest,
  liveGenerations,
  maySwitchBack,
  runsSpec,
  targetOf,
} from "./facts.ts";
import { axesOf, IDLE_TIMEOUT_MS, NAME } from "./fixtures.ts";
import type { PassRecord } from "./run-pass.ts";

type Of<T extends Request["type"]> = Call & { readonly request: Extract<Request, { readonly type: T }> };
type WriteInvariant = (call: Call, pass: PassRecord) => string | undefined;

const MOVES: Readonly<Record<string, readonly string[]>> = {
  "": ["creating"],
  creating: ["creating", "switching"],
  switching: ["switching", "creating", "draining", "cleaning", "stable", "stopped"],
  draining: ["draining", "cleaning"],
  cleaning: ["cleaning", "stable", "stopped", "draining"],
  stable: ["stable", "stopped", "creating"],
  stopped: ["stable", "stopped", "creating"],
};

/** Only calls of a type that had an effect. */
function on<T extends Request["type"]>(
  type: T,
  check: (call: Of<T>, pass: PassRecord) => string | undefined,
): WriteInvariant {
  const isOf = (call: Call): call is Of<T> => call.request.type === type && call.after !== call.before;
  return (call, pass) => (isOf(call) ? check(call, pass) : undefined);
}

interface StatusStep {
  readonly from: Counters;
  readonly to: Counters;
  readonly call: Of<"status">;
  readonly pass: PassRecord;
}

function onStatus(check: (step: StatusStep) => string | undefined): WriteInvariant {
  return on("status", (call, pass) =>
    check({ from: countersOf(call.before.engine?.status), to: countersOf(call.request.status), call, pass }),
  );
}

/** A StatefulSet of a generation, or a pod that none owns any more, is about to go. */
function onSetRemoval(
  check: (generation: number, at: Counters, call: Of<"remove">, pass: PassRecord) => string | undefined,
): WriteInvariant {
  return on("remove", (call, pass) => {
    const { map, removal } = call.request;
    if ((map !== "statefulSets" && map !== "pods") || isBeingDeleted(call.before)) return undefined;
    return check(generationInName(removal.name) ?? -1, countersOf(call.before.engine?.status), call, pass);
  });
}

/** The draining generation and the one that was to replace it change places. */
function isSwitchedBack(from: Counters, to: Counters): boolean {
  const isSwap = to.current === from.draining && to.draining === from.current && to.active === to.current;
  return from.phase === "draining" && to.phase === "draining" && isSwap;
}

/** A new generation begins. */
const begins = (from: Counters, to: Counters): boolean => to.current > from.current && !isSwitchedBack(from, to);

/** The routing Service is created or pointed elsewhere. */
function onRoute(check: (target: number, call: Of<"route">, pass: PassRecord) => string | undefined): WriteInvariant {
  return on("route", (call, pass) => check(call.request.write.generation, call, pass));
}

function isDrainRequired({ seen }: PassRecord): boolean {
  return seen.engine !== undefined && axesOf(seen.engine).rollout === "graceful";
}

export const WRITE_INVARIANTS: Readonly<Partial<Record<InvariantName, WriteInvariant>>> = {
  "only-legal-moves": onStatus(({ from, to, call }) =>
    isBeingDeleted(call.before) || MOVES[from.phase]?.includes(to.phase) === true
      ? undefined
      : `from "${from.phase}" to "${to.phase}"`,
  ),
  "numbers-never-reused": onStatus(({ from, to, call: { before } }) => {
    if (to.current === from.current || isSwitchedBack(from, to)) return undefined;
    return to.current === before.used + 1
      ? undefined
      : `current changes from ${from.current} to ${to.current}, and ${before.used} was the highest ever`;
  }),
  "active-never-goes-back": onStatus(({ from, to }) =>
    to.active >= from.active || isSwitchedBack(from, to)
      ? undefined
      : `active changes from ${from.active} to ${to.active}`,
  ),
  "no-bump-mid-rollout": onStatus(({ from, to }) =>
    to.current === from.current || isGatedPhase(from.phase) || isSwitchedBack(from, to)
      ? undefined
      : `a new generation in ${from.phase}`,
  ),
  "switched-back-only-when-wanted": onStatus(({ from, to, pass: { seen } }) =>
    !isSwitchedBack(from, to) || maySwitchBack(seen, from)
      ? undefined
      : `generation ${to.current} is switched back to although it is not complete, or does not match the spec, or ${from.current} does`,
  ),
  // A generation that is what the spec requests is not replaced, whatever a cache shows.
  "wanted-never-replaced": onStatus(({ from, to, call: { before }, pass: { seen } }) => {
    const name = statefulSetName(NAME, from.current);
    const { metadata } = before.statefulSets.get(name) ?? {};
    const isIntact =
      metadata?.generation === 1 &&
      metadata.deletionTimestamp === undefined &&
      metadata.labels?.[LABEL.engine] !== undefined &&
      isOwnedBy(metadata, before.engine?.metadata?.uid ?? "");
    return begins(from, to) && isIntact && isBuiltFor(before, seen, from.current)
      ? `generation ${to.current} begins although ${from.current} matches the spec`
      : undefined;
  }),
  "wanted-never-abandoned": onSetRemoval((generation, { phase, current }, { before }, { seen, plan }) =>
    phase === "creating" &&
    generation === current &&
    plan.interrupt === undefined &&
    runsSpec({ ...before, engineClass: seen.engineClass }, generation)
      ? `generation ${generation} is abandoned although it matches the spec`
      : undefined,
  ),
  "unexplained-rollouts-wait": onStatus(({ from, to, call: { before, request }, pass: { seen } }) => {
    const [held, next] = [before.engine?.status?.heldRollout, request.status.heldRollout];
    const { nowMs } = before;
    if (next?.until !== undefined && held?.until === undefined) {
      const waitMs = Date.parse(next.until) - nowMs;
      return waitMs >= Math.min(1_000 * 2 ** next.attempts, 300_000)
        ? undefined
        : `attempt ${next.attempts} waits only ${waitMs} ms`;
    }
    const set = seen.statefulSets.get(statefulSetName(NAME, from.current));
    if (!begins(from, to) || set === undefined || !isBuiltFor(seen, seen, from.current)) return undefined;
    const isMissing =
      set.metadata?.deletionTimestamp !== undefined || !isOwnedBy(set.metadata, before.engine?.metadata?.uid ?? "");
    const isDue = held?.until !== undefined && Date.parse(held.until) <= nowMs;
    if (!isDue && !(isMissing && (held?.attempts ?? 0) === 0))
      return `generation ${to.current} begins at once, and nothing explains it`;
    return next?.attempts === (held?.attempts ?? 0) + 1
      ? undefined
      : `attempt ${held?.attempts} is followed by ${next?.attempts}`;
  }),
  // Where queries may go at all, whatever the pass has seen.
  "routed-to-active-or-current": onRoute((target, { before }, { seen }) => {
    const { active, current, draining } = countersOf(before.engine?.status);
    if (active < 0 || target === active || target === current) return undefined;
    return target === draining && maySwitchBack(seen, countersOf(before.engine?.status))
      ? undefined
      : `queries are sent to generation ${target}, while active is ${active} and current ${current}`;
  }),
  "observed-only-when-verified": onStatus(({ from, to, call, pass: { seen } }) => {
    const [before, after] = [call.before.engine?.status?.observedGeneration, call.request.status.observedGeneration];
    if (before === after) return undefined;
    // `verify` alone, or in the same pass as the step that leads to rest: either way the pass must have seen the spec
    // running.
    const isVerified =
      isRest(to.phase) && (before ?? 0) < (after ?? 0) && isGateOpen(seen) && runsSpec(seen, to.active);
    return isVerified ? undefined : `observedGeneration changes from ${before} to ${after} in ${from.phase}`;
  }),
  "ready-before-switch": onRoute((target, { before }, { seen }) => {
    const old = targetOf(before);
    if (old === undefined || target <= old || countersOf(before.engine?.status).active < 0) return undefined;
    return target === countersOf(before.engine?.status).active || isComplete(seen, target)
      ? undefined
      : `queries move up to generation ${target}, whose pods were not seen ready`;
  }),
  "never-routed-to-unready": onRoute((target, { before }, { seen }) => {
    const { active } = countersOf(before.engine?.status);
    if (active < 0 || target === active || isComplete(seen, target)) return undefined;
    return `queries go to generation ${target}, whose pods were not seen ready, while ${active} serves`;
  }),
  "serving-never-deleted": onSetRemoval((generation, { active }, { before }) =>
    // Before the first cut-over nothing serves, and the Service merely names what will.
    active >= 0 && (generation === active || generation === targetOf(before))
      ? `generation ${generation} is deleted, while active is ${active} and queries are routed to ${targetOf(before)}`
      : undefined,
  ),
  "selector-never-goes-back": onRoute((target, { before }, { seen }) => {
    const old = targetOf(before);
    // Before the first cut-over nothing serves, and the Service merely names what will.
    if (old === undefined || !(target < old) || countersOf(before.engine?.status).active < 0) return undefined;
    const { phase, active } = countersOf(seen.engine?.status);
    const isProtective = phase === "creating" && target === countersOf(before.engine?.status).active;
    // A foreign edit is undone wherever active serves.
    const isRepair = target === active && active === countersOf(before.engine?.status).active;
    const isSwitchBack =
      target === countersOf(before.engine?.status).draining && maySwitchBack(seen, countersOf(before.engine?.status));
    return isProtective || isRepair || isSwitchBack ? undefined : `queries go back from generation ${old} to ${target}`;
  }),
  "drained-before-deleted": onStatus(({ from, to, call, pass }) => {
    if (to.phase !== "cleaning" || from.phase === "cleaning" || to.draining === undefined) return undefined;
    if (!isDrainRequired(pass)) return undefined;
    if (from.phase !== "draining") return `${from.phase} leads to cleaning although a drain is required`;
    // Where queries of clients with old addresses are followed, the deletion itself is what counts.
    if (call.before.settings.remembers) return undefined;
    const isProven = isQuiet(call.before, to.draining) || isQuiet(pass.start, to.draining);
    return isProven ? undefined : `generation ${to.draining} counts as drained while a pod is busy or silent`;
  }),
  "no-running-query-deleted": onSetRemoval((generation, { draining }, { before, request }, pass) => {
    const { remembers } = before.settings;
    if (!remembers || generation !== draining || !isDrainRequired(pass)) return undefined;
    const [set, ordinal] = request.map === "pods" ? placeOf(request.removal.name) : [request.removal.name, undefined];
    const moods = before.pods.get(set)?.moods ?? [];
    const isLost = ordinal === undefined ? moods.some(isBusyMood) : isBusyMood(moods[ordinal] ?? "gone");
    return isLost ? `${request.removal.name} is deleted while it runs a query` : undefined;
  }),
  "draining-kept-until-cleaning": onSetRemoval((generation, { phase, draining }) =>
    generation === draining && phase !== "cleaning"
      ? `the draining generation ${generation} is deleted in ${phase}`
      : undefined,
  ),
  "one-rollout-at-a-time": on("create", ({ before, request }) => {
    const { draining, active } = countersOf(before.engine?.status);
    const generation = Number(request.object.metadata?.labels?.[LABEL.generation]);
    return draining !== undefined && generation > active
      ? `generation ${generation} begins while ${draining} is being drained`
      : undefined;
  }),
  "sweep-deletes-only-orphans": on("remove", ({ before, request }, pass) => {
    const { removal, map } = request;
    if (before.engine === undefined || isBeingDeleted(before)) return undefined;
    if (map === "pods") {
      const isDrained = countersOf(before.engine.status).phase === "cleaning";
      const ofDraining = generationInName(removal.name) === countersOf(before.engine.status).draining;
      return isDrained && ofDraining ? undefined : `${removal.name} is deleted, which is not of a drained generation`;
    }
    // A former leader may still take a Service or ConfigMap of a number that is being built again; at rest it is put
    // back.
    if (pass.plan.interrupt !== undefined && map !== "statefulSets") return undefined;
    const generation = generationInName(removal.name) ?? Number.NaN;
    const { phase, current, active, draining } = countersOf(before.engine.status);
    if (phase === "cleaning" && generation === draining) return undefined;
    if (phase === "creating" && generation === current && generation !== active) return undefined;
    const kept = [current, active, draining, targetOf(before)];
    return generation <= before.used && !kept.includes(generation)
      ? undefined
      : `${removal.name} is deleted in ${phase} with current ${current}, active ${active}, draining ${draining}`;
  }),
  "finalizer-goes-last": on("finalizer", ({ before, request }, pass) => {
    if (request.present) return undefined;
    if (pass.calls.some(({ request: { type }, accepted }) => type === "remove" && !accepted))
      return "the finalizer is removed although a delete was not accepted";
    const uid = before.engine?.metadata?.uid ?? "";
    const running = [...before.statefulSets.values()].some(
      // One without its label is collected with its owner.
      ({ metadata }) =>
        isOwnedBy(metadata, uid) &&
        metadata?.deletionTimestamp === undefined &&
        metadata?.labels?.[LABEL.engine] !== undefined,
    );
    const isStale = Object.keys(pass.lag).length > 0 || pass.plan.interrupt !== undefined;
    return running || (!isStale && isPlain(before) && liveGenerations(before).size > 0)
      ? "the finalizer is removed while an object of the engine is not being deleted"
      : undefined;
  }),
  "no-blind-overwrite": onStatus(({ call, pass }) =>
    isDeepStrictEqual(call.before.engine?.status, pass.seen.engine?.status)
      ? undefined
      : "a status is written over one that the pass did not start from",
  ),
  "foreign-objects-untouched": (call) => foreignWrite(call),
  "stopped-only-when-quiet": on("scale", ({ before, request }, { start, seen }) => {
    const { active } = countersOf(before.engine?.status);
    if (request.replicas >= (before.engine?.spec?.replicas ?? 0)) return undefined;
    const idleMs = before.nowMs - Date.parse(seen.engine?.status?.lastActivityTime ?? "");
    if (!(idleMs >= IDLE_TIMEOUT_MS)) return `the engine is stopped after ${idleMs} ms`;
    return isQuiet(start, active) ? undefined : "the engine is stopped while a pod is busy or silent";
  }),
  "no-config-without-instance": (call, { seen }) => {
    const { request, accepted } = call;
    const makesConfig = request.type === "create" || (request.type === "apply" && request.map === "configMaps");
    return makesConfig && accepted && seen.instance?.status?.metadataEndpoint === undefined
      ? "configuration is written without a metadata endpoint"
      : undefined;
  },
  "ready-only-when-serving": onStatus(({ from, to, call: { before, request }, pass: { seen, plan } }) => {
    const conditions = request.status.conditions ?? [];
    if (conditions.find(({ type }) => type === "Ready")?.status !== "True") return undefined;
    const isPromised = (view: Cluster): boolean =>
      to.phase === "stable" &&
      isComplete(view, to.active, from.phase === "switching" ? undefined : view.engine?.spec?.replicas) &&
      conditions.find(({ type }) => type === "InstanceReady")?.status === "True" &&
      targetOf(view) === to.active;
    // A pass that halted may have continued to read afterwards.
    const views = plan.interrupt?.blind === false ? [seen, before] : [seen];
    return views.some(isPromised)
      ? undefined
      : `Ready in ${to.phase} with active ${to.active}, queries to ${targetOf(seen)}`;
  }),
};

function foreignWrite({ request, before, after }: Call): string | undefined {
  if (after === before) return undefined;
  const uid = before.engine?.metadata?.uid;
  switch (request.type) {
    case "apply":
    case "create": {
      const { metadata } = request.object;
      if (metadata?.labels?.[LABEL.engine] === undefined || metadata.ownerReferences?.[0]?.controller !== true)
        return `${metadata?.name} is written without label or owner`;
      const found = request.type === "apply" ? before[request.map].get(metadata.name ?? "") : undefined;
      const owner = metadata.ownerReferences[0].uid;
      return found === undefined || isOwnedBy(found.metadata, owner)
        ? undefined
        : `${metadata.name} of another owner is taken over`;
    }
    case "remove": {
      if (request.map === "pods")
        return before.pods.get(placeOf(request.removal.name)[0])?.orphaned === true
          ? undefined
          : `pod ${request.removal.name} is deleted, which has an owner`;
      const found = before[request.map].get(request.removal.name);
      return uid === undefined || isOwnedBy(found?.metadata, uid)
        ? undefined
        : `${request.removal.name} of another owner is deleted`;
    }
    case "route": {
      const { observed } = request.write;
      if (observed.type === "absent" || uid === undefined) return undefined;
      return isOwnedBy(before.services.get(request.write.service.metadata?.name ?? "")?.metadata, uid)
        ? undefined
        : "a routing Service of another owner is changed";
    }
    case "read":
    case "probe":
    case "scale":
    case "finalizer":
    case "status":
      return undefined;
    default:
      return request satisfies never;
  }
}
