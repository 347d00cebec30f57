// The invariants (docs/design/engine.md#invariants) about whole passes: how many writes, in which order, and what must
// be put right by a pass that saw everything and was not disturbed.
import { isDeepStrictEqual } from "node:util";
import { ANNOTATION } from "../../../src/api/labels.ts";
import { isOwnedBy } from "../../../src/engine/model/children.ts";
import { routingServiceName, statefulSetName } from "../../../src/engine/model/names.ts";
import { withoutShown } from "../../../src/engine/model/shown-state.ts";
import type { InvariantName } from "../../design/invariant-names.ts";
import { type Call, isWrite } from "./calls.ts";
import type { Cluster } from "./cluster.ts";
import {
  countersOf,
  isBeingDeleted,
  isBuiltFor,
  isComplete,
  isGatedPhase,
  isGateOpen,
  isPlain,
  isRest,
  liveGenerations,
  runsSpec,
  targetOf,
} from "./facts.ts";
import { axesOf, FINALIZER, NAME } from "./fixtures.ts";
import type { PassRecord } from "./run-pass.ts";

type PassInvariant = (pass: PassRecord) => string | undefined;

/** A generation that lived for this long ends a row of unexplained ones. */
const FORGET_MS = 10 * 60_000;
const WAKE_FRESH_MS = 5 * 60_000;

const hasEffect = ({ before, after }: Call): boolean => before !== after;
const isCreation = ({ request }: Call): boolean =>
  request.type === "apply" ||
  request.type === "create" ||
  (request.type === "route" && request.write.observed.type === "absent");

/** A pass that saw the cluster as it was, and to which nothing happened. */
export function isUndisturbed(pass: PassRecord): boolean {
  return sawAll(pass) && pass.calls.every(({ accepted }) => accepted);
}

/** Like `isUndisturbed`, though the API server may have rejected objects of a generation. */
function sawAll({ start, lag, plan, outcome, calls }: PassRecord): boolean {
  const isRouted = calls.every(({ request: { type }, accepted }) => accepted || type === "create" || type === "apply");
  return (
    Object.keys(plan).length === 0 &&
    !(outcome instanceof Error) &&
    Object.keys(lag).length === 0 &&
    isRouted &&
    isPlain(start)
  );
}

/** Something stands in the way of the engine's objects. */
function isRefused({ engine }: Cluster): boolean {
  const reason = engine?.status?.conditions?.find(({ type }) => type === "Ready")?.reason;
  return reason === "NameInUse" || reason === "ObjectRejected";
}

/** Of an engine that has a finalizer and a phase and is not on its way out. */
function isOrdinary({ seen: { engine } }: PassRecord): boolean {
  const { finalizers, deletionTimestamp } = engine?.metadata ?? {};
  return (
    finalizers?.includes(FINALIZER) === true && deletionTimestamp === undefined && (engine?.status?.phase ?? "") !== ""
  );
}

/** A write of what is stored already: repeated in every pass, it would never end. */
function changesNothing({ request, before }: Call): boolean {
  switch (request.type) {
    case "status": {
      const { lastReconciled: _, ...next } = request.status;
      const { lastReconciled: __, ...stored } = before.engine?.status ?? {};
      return isDeepStrictEqual(next, stored);
    }
    case "apply": {
      const { metadata: _, ...content } = request.object;
      const found: object = before[request.map].get(request.object.metadata?.name ?? "") ?? {};
      return isDeepStrictEqual({ ...found, ...content }, found);
    }
    case "route":
      return isDeepStrictEqual(
        before.services.get(request.write.service.metadata?.name ?? "")?.spec,
        request.write.service.spec,
      );
    case "create":
    case "remove":
    case "read":
    case "probe":
    case "scale":
    case "finalizer":
      return false;
    default:
      return request satisfies never;
  }
}

export const PASS_INVARIANTS: Readonly<Partial<Record<InvariantName, PassInvariant>>> = {
  "number-before-objects"({ calls, start }) {
    const bumps = calls.some(
      ({ request }) => request.type === "status" && request.status.currentGeneration > start.used && start.used >= 0,
    );
    return bumps && calls.some((call) => isCreation(call) && hasEffect(call))
      ? "a pass that begins a new generation creates something"
      : undefined;
  },
  "stopped-means-zero"(pass) {
    if (!isUndisturbed(pass)) return undefined;
    const [before, after] = [countersOf(pass.start.engine?.status), countersOf(pass.cluster.engine?.status)];
    if (!isRest(before.phase) || !isRest(after.phase) || !isGateOpen(pass.start)) return undefined;
    const isStopped = pass.start.engine?.spec?.replicas === 0;
    return isStopped === (after.phase === "stopped")
      ? undefined
      : `${after.phase} with replicas ${pass.start.engine?.spec?.replicas}`;
  },
  "stateful-set-at-rest"(pass) {
    if (!isUndisturbed(pass)) return undefined;
    const [before, after] = [countersOf(pass.start.engine?.status), countersOf(pass.cluster.engine?.status)];
    if (!isRest(before.phase) || !isRest(after.phase) || !isGateOpen(pass.start)) return undefined;
    const set = pass.cluster.statefulSets.get(statefulSetName(NAME, after.active));
    const isThere = set !== undefined && set.metadata?.deletionTimestamp === undefined;
    // A StatefulSet that keeps being deleted is replaced later each time.
    if (pass.cluster.engine?.status?.heldRollout?.until !== undefined) return undefined;
    return isThere ? undefined : `the pass stays in ${after.phase} although its StatefulSet is missing or terminating`;
  },
  "routing-repaired-at-once"(pass) {
    if (!sawAll(pass) || !isOrdinary(pass)) return undefined;
    const [before, after] = [countersOf(pass.start.engine?.status), countersOf(pass.cluster.engine?.status)];
    // Before anything has served, the Service comes last.
    if (before.active < 0 && (!isUndisturbed(pass) || isRefused(pass.cluster))) return undefined;
    const [was, is] = [targetOf(pass.start), targetOf(pass.cluster)];
    if (isGatedPhase(before.phase) && !isGateOpen(pass.start)) return undefined;
    // What is another's, or still going away, has to go first.
    if (was === undefined && pass.start.services.has(routingServiceName(NAME))) return undefined;
    // A pass that only writes down an intent, or takes a step back, repairs nothing yet.
    if (after.current !== before.current || (before.phase === "switching" && !isComplete(pass.start, before.current)))
      return undefined;
    if (before.phase === "creating")
      return was === undefined && is === undefined ? "a missing routing Service stays missing" : undefined;
    const wanted = before.phase === "switching" ? before.current : after.active;
    return is === wanted ? undefined : `after a pass in ${before.phase} queries go to ${is} instead of ${wanted}`;
  },
  "orphans-swept"(pass) {
    if (!isUndisturbed(pass) || !isOrdinary(pass)) return undefined;
    const { current, active, draining } = countersOf(pass.cluster.engine?.status);
    const live = liveGenerations(pass.cluster);
    const named = new Set([current, active, draining, targetOf(pass.cluster)]);
    const stray = [...live].filter((generation) => !named.has(generation) && generation <= pass.cluster.used);
    return stray.length === 0 && live.size <= 2
      ? undefined
      : `after the sweep there are generations ${[...live].join()}`;
  },
  "spec-edits-never-wait"(pass) {
    if (!isUndisturbed(pass) || !isGateOpen(pass.start)) return undefined;
    const [before, after] = [countersOf(pass.start.engine?.status), countersOf(pass.cluster.engine?.status)];
    if (!isRest(before.phase) || !isRest(after.phase)) return undefined;
    const set = pass.start.statefulSets.get(statefulSetName(NAME, before.active));
    const isAsked = runsSpec(pass.start, before.active) || isBuiltFor(pass.start, pass.start, before.active);
    const isOwn = isOwnedBy(set?.metadata, pass.start.engine?.metadata?.uid ?? "");
    if (isOwn && !isAsked) return "a change of the spec waits";
    const held = pass.cluster.engine?.status?.heldRollout;
    // What waited until now is forgotten by the next pass.
    if (pass.start.engine?.status?.heldRollout?.until !== undefined) return undefined;
    const ageMs = pass.start.nowMs - Date.parse(set?.metadata?.creationTimestamp ?? "");
    return runsSpec(pass.start, before.active) && ageMs >= FORGET_MS && held !== undefined
      ? "edits of long ago are not forgotten"
      : undefined;
  },
  "fresh-query-wakes"(pass) {
    const { start, cluster } = pass;
    if (!isUndisturbed(pass) || !isOrdinary(pass) || start.engine === undefined) return undefined;
    const wake = Date.parse(start.engine.metadata?.annotations?.[ANNOTATION.wakeRequested] ?? "");
    const { phase } = countersOf(start.engine.status);
    const { autoStopReason, lastScaledAt } = start.engine.status ?? {};
    // A stop that was stored without its time, or that another client made, counts from the second before it is first
    // seen.
    const isSeen = autoStopReason === "Stopped" || autoStopReason === "Idle";
    const scaledMs = Math.max(Date.parse(lastScaledAt ?? "") || 0, isSeen ? 0 : start.nowMs - 1_000);
    const isFresh = start.nowMs - wake < WAKE_FRESH_MS && wake > scaledMs;
    if (axesOf(start.engine).autoStop === undefined || start.engine.spec?.replicas !== 0 || !isFresh) return undefined;
    const isDue =
      phase === "stopped"
        ? isGateOpen(start) && phase === countersOf(cluster.engine?.status).phase
        : phase === "draining" && countersOf(cluster.engine?.status).phase === phase;
    return isDue && cluster.engine?.spec?.replicas === 0
      ? `a query that requests the engine is ignored in ${phase}`
      : undefined;
  },
  "one-status-write"({ calls, seen }) {
    if (isBeingDeleted(seen)) return undefined;
    const at = calls.findIndex((call) => call.request.type === "status" && call.accepted && hasEffect(call));
    if (at < 0) return undefined;
    const later = calls.slice(at + 1).find((call) => isWrite(call) && call.request.type !== "remove");
    return later === undefined ? undefined : `after the status comes a ${later.request.type}`;
  },
  "no-needless-write"(pass) {
    if (!isUndisturbed(pass)) return undefined;
    const idle = pass.calls.find(changesNothing);
    return idle === undefined ? undefined : `a ${idle.request.type} that changes nothing`;
  },
  "every-pass-asks-for-another"({ outcome, seen, cluster }) {
    if (outcome instanceof Error || outcome !== "onChange") return undefined;
    const isOver = seen.engine === undefined || isBeingDeleted(seen) || cluster.engine === undefined;
    return isOver ? undefined : "the pass requests no further pass";
  },
  "closed-gate-changes-conditions-only"(pass) {
    const { seen, calls } = pass;
    const before = countersOf(seen.engine?.status);
    if (!isOrdinary(pass) || isGateOpen(seen) || !isGatedPhase(before.phase)) return undefined;
    for (const { request } of calls) {
      if (request.type === "apply" || request.type === "create" || request.type === "route")
        return `a ${request.type} behind a closed gate`;
      if (request.type !== "status") continue;
      // Conditions, and the records of what they show.
      const { lastReconciled: _, ...kept } = withoutShown(request.status);
      const { lastReconciled: __, ...stored } = withoutShown(seen.engine?.status);
      if (!isDeepStrictEqual(kept, stored)) return "the status changes in more than its conditions";
    }
    return undefined;
  },
};
