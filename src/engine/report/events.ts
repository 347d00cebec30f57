// The Kubernetes events of a stored decision (docs/monitoring.md#events; docs/adr/0011 says which are left out,
// and why). Pure: events depend on the decision and on the status before it, so a repeated pass records none twice.

import type { EventNote } from "@firebolt-operator/kube/events";
import { findCondition } from "../../api/condition-list.ts";
import type { EngineEventReason } from "../../api/events.ts";
import { API_VERSION } from "../../api/group.ts";
import type { Condition } from "../../api/schema/condition.ts";
import { troubleText } from "../../pods/pod-trouble.ts";
import { storedScrapeFailure } from "../auto-stop/scrape-failure.ts";
import { warningText } from "../compute/warning.ts";
import type { Engine } from "../model/children.ts";
import type { WritableDecision } from "../model/decision.ts";
import { statefulSetName } from "../model/names.ts";
import { isAtRest } from "../model/phase.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";

type EventText = Pick<EventNote<EngineEventReason>, "type" | "reason" | "action" | "note">;
type Hold = WritableDecision & { readonly type: "hold" };
/** A decision that starts a generation. */
type Started = WritableDecision & { readonly type: "bump" | "abandon" };

/** Causes by which a StatefulSet was not edited but deleted. */
const MISSING_SET: ReadonlySet<string> = new Set(["statefulSet", "metadata.deletionTimestamp"]);

/** The steps that end with other pods serving. */
const SWITCHES: ReadonlySet<WritableDecision["step"]> = new Set(["start-drain", "skip-drain", "switch-back"]);

/** To be recorded once the decision's status is stored. */
export function eventsOf(decision: WritableDecision, s: EngineSnapshot): readonly EventNote[] {
  return [
    ...stepEvents(decision, s),
    ...troubleEvents(decision, s),
    ...uncreatedPodEvents(decision, s),
    ...scrapeEvents(decision, s),
    ...readyEvents(decision, s),
  ].map((event) => about(event, s));
}

/** To be recorded once the decision's StatefulSet is created. */
export function aliasEventsOf(decision: WritableDecision, s: EngineSnapshot): readonly EventNote[] {
  const leftOut = decision.type === "hold" ? (decision.leftOut ?? []) : [];
  if (leftOut.length === 0) return [];
  const list = leftOut.map(({ path, secret }) => `${path} (Secret ${JSON.stringify(secret)})`).join(", ");
  const note = `Omitted from generation ${s.generations.current}, with its mounts, because it exposes a Secret of the operator: ${list}`;
  return [about(warning("SecretAliasVolumeDropped", "Reconcile", note), s)];
}

export function regarding({ metadata }: Engine): EventNote["regarding"] {
  const { namespace, name = "", uid } = metadata ?? {};
  return {
    apiVersion: API_VERSION,
    kind: "FireboltEngine",
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}

const about = (event: EventText, { engine }: EngineSnapshot): EventNote => ({ ...event, regarding: regarding(engine) });

function stepEvents(decision: WritableDecision, s: EngineSnapshot): readonly EventText[] {
  const { currentGeneration, activeGeneration } = decision.status;
  switch (decision.type) {
    case "bump":
      return [
        ...missingSetEvents(decision, s),
        rollout(
          "GenerationCreated",
          `Generation ${currentGeneration} replaces ${activeGeneration}: ${causeText(decision, s)}`,
        ),
      ];
    case "abandon": {
      // The sweep deletes what this pass does not.
      const removed = decision.remove.length > 0 ? " and deleted" : "";
      const note = `Generation ${decision.generation} is abandoned for ${currentGeneration}${removed}: ${causeText(decision, s)}`;
      return [...missingSetEvents(decision, s), rollout("GenerationAbandoned", note)];
    }
    case "move":
      return SWITCHES.has(decision.step)
        ? [
            rollout(
              "TrafficSwitched",
              `Queries are routed to generation ${activeGeneration} instead of ${decision.status.drainingGeneration}`,
            ),
          ]
        : [];
    case "hold":
      return decision.step === "damped" ? heldEvents(decision, s) : drainEvents(decision, s);
    case "clean":
      // An engine that becomes ready in the same pass reports the removal in that event.
      return becomesReady(decision, s) ? [] : [rollout("GenerationCleaned", removalText(s))];
    case "refuse": {
      const { event, message } = decision.refusal;
      return event !== undefined && isNews(decision, s) ? [warning(event, "Reconcile", message)] : [];
    }
    case "initialise":
      return [];
    default:
      return decision satisfies never;
  }
}

/** A deleted StatefulSet is not created again: the next generation takes its place. */
function missingSetEvents({ cause, status }: Started, s: EngineSnapshot): readonly EventText[] {
  if (!MISSING_SET.has(cause.path) || status.heldRollout === undefined) return [];
  const name = statefulSetName(s.identity.name, s.generations.current);
  const note = `StatefulSet ${name} was deleted; generation ${status.currentGeneration} takes its place`;
  return [{ type: "Normal", reason: "ChildRestored", action: "Reconcile", note }];
}

/** Once per wait: who edited what, and when the generation that follows from it starts. */
function heldEvents({ status: { heldRollout: held } }: Hold, s: EngineSnapshot): readonly EventText[] {
  if (held?.until === undefined || held.until === s.status?.heldRollout?.until) return [];
  const editor = held.manager === undefined ? "" : ` by ${held.manager}`;
  const what = MISSING_SET.has(held.field) ? "deleted" : `edited${editor} (${held.field})`;
  const before =
    held.attempts === 0 ? "" : `, after ${held.attempts} such ${held.attempts === 1 ? "edit" : "edits"} in a row`;
  const note = `StatefulSet ${statefulSetName(s.identity.name, s.generations.current)} was ${what}, not through the FireboltEngine: generation ${s.generations.highest + 1} starts at ${held.until}${before}`;
  return [warning("RolloutHeld", "Rollout", note)];
}

/** A drain is worth an event when it takes time; that begins with the first check that does not end it. */
function drainEvents(decision: Hold, s: EngineSnapshot): readonly EventText[] {
  const [before, after] = [readyOf(s.status), readyOf(decision.status)];
  const isFirst = decision.status.drainChecked === true && s.status?.drainChecked !== true;
  const fails = after?.reason === "DrainCheckFailing" && before?.reason !== "DrainCheckFailing";
  return [
    ...(isFirst ? [rollout("DrainStarted", drainText(s))] : []),
    ...(fails ? [warning("DrainCheckFailing", "Drain", after.message)] : []),
  ];
}

function drainText({ generations: { draining }, drainProbe }: EngineSnapshot): string {
  if (drainProbe.type !== "busy") return `Generation ${draining} is kept until its pods report their running queries`;
  const { pod, queries } = drainProbe;
  return `Generation ${draining} is kept until its queries finish (${queries} on pod ${pod})`;
}

/** Once per cause: not again while Ready names it, nor for the next pod that fails in the same way. */
function troubleEvents(decision: WritableDecision, s: EngineSnapshot): readonly EventText[] {
  const { trouble } = s.pods;
  const [before, after] = [s.status?.reported?.podFailure, decision.status.reported?.podFailure];
  if (trouble === undefined || after === undefined || after === before) return [];
  return [warning("PodFailing", "Reconcile", `${troubleText(trouble)}; next: ${trouble.next}`)];
}

/**
 * What keeps the StatefulSet from creating pods (quota, limits, policy), once per cause: how often it was tried is no
 * news.
 */
function uncreatedPodEvents(decision: WritableDecision, s: EngineSnapshot): readonly EventText[] {
  const [before, after] = [s.status?.reported?.warning, decision.status.reported?.warning];
  const found = s.findings?.warning;
  const { currentGeneration } = decision.status;
  // A warning about a generation that is left is no news.
  if (found === undefined || after === undefined || after === before || currentGeneration !== s.generations.current)
    return [];
  return [warning("PodFailing", "Reconcile", warningText(statefulSetName(s.identity.name, currentGeneration), found))];
}

/** Once per cause, and again after a recovery. */
function scrapeEvents(decision: WritableDecision, s: EngineSnapshot): readonly EventText[] {
  const [before, after] = [storedScrapeFailure(s.status), decision.status.scrapeFailure];
  if (after === undefined || after === before) return [];
  return [warning("AutoStopScrapeFailed", "Scale", `Auto-stop cannot determine whether queries run: ${after}`)];
}

function readyEvents(decision: WritableDecision, s: EngineSnapshot): readonly EventText[] {
  if (!becomesReady(decision, s)) return [];
  const { wanted } = s.pods;
  const pods = `${wanted} ${wanted === 1 ? "replica" : "replicas"}`;
  const seconds = Math.max(0, Math.round((s.nowMs - generationStartMs(s)) / 1_000));
  const removal = decision.type === "clean" ? `. ${removalText(s)}` : "";
  const note = `Generation ${decision.status.activeGeneration} serves with ${pods}, ${seconds} s after its start${removal}`;
  return [rollout("EngineReady", note)];
}

/** Once per generation: pods that come back, and instances, make Ready true again without a rollout. */
function becomesReady(decision: WritableDecision, s: EngineSnapshot): boolean {
  const before = readyOf(s.status);
  if (readyOf(decision.status)?.status !== "True" || before?.status === "True") return false;
  if (!isAtRest(s.phase)) return true;
  // At rest before its pods were ready: not ready ever since it exists, then.
  return before !== undefined && Date.parse(before.lastTransitionTime) <= generationStartMs(s);
}

/** NaN when there is no StatefulSet, which no engine that is ready lacks. */
function generationStartMs({ current: { statefulSet } }: EngineSnapshot): number {
  return statefulSet.type === "live" ? Date.parse(statefulSet.object.metadata?.creationTimestamp ?? "") : Number.NaN;
}

function removalText({ generations: { draining } }: EngineSnapshot): string {
  return `Generation ${draining} is deleted`;
}

/** Names the field and never its values, which may be credentials. */
function causeText({ cause: { path, classChanged }, status }: Started, s: EngineSnapshot): string {
  const { heldRollout } = status;
  // Set only where nothing of the engine explains the difference.
  if (heldRollout?.field === path && !MISSING_SET.has(path))
    return `${heldRollout.manager ?? "an unknown client"} changed ${path} of StatefulSet ${statefulSetName(s.identity.name, s.generations.current)}, not the FireboltEngine`;
  switch (path) {
    case "statefulSet":
      return "its StatefulSet is missing";
    case "metadata.deletionTimestamp":
      return "its StatefulSet is being deleted";
    default:
      return `${path} differs${classChanged === true ? classText(s) : ""}`;
  }
}

function classText({ engine }: EngineSnapshot): string {
  const name = engine.spec?.engineClassRef ?? "";
  return name === "" ? " (the engine has no class any more)" : ` (class ${JSON.stringify(name)} changed)`;
}

/** Another cause is another rejection, even with the same reason; so is one that follows a failed pass. */
function isNews({ status: { reported } }: WritableDecision, { status }: EngineSnapshot): boolean {
  return reported?.refusal !== status?.reported?.refusal || status?.reconcileFailure !== undefined;
}

function readyOf(status: { readonly conditions?: readonly Readonly<Condition>[] } | undefined) {
  return findCondition(status?.conditions, "Ready");
}

function rollout(reason: EngineEventReason, note: string): EventText {
  return { type: "Normal", reason, action: "Rollout", note };
}

function warning(reason: EngineEventReason, action: string, note: string): EventText {
  return { type: "Warning", reason, action, note };
}
