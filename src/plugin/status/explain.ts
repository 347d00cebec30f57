// Why an instance or an engine is not (yet) what was asked for, and what a person can do about it. Pure; the answers are those of
// docs/troubleshooting.md.
import { findCondition } from "../../api/condition-list.ts";
import type { FireboltEngine } from "../../api/engine.ts";
import type { HeldRollout } from "../../api/engine-status.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import type { FireboltInstance } from "../../api/instance.ts";
import { LABEL } from "../../api/labels.ts";
import { splitNextStep } from "../../api/next-step.ts";
import { generationLabel } from "../../engine/children.ts";
import { isAtRest, parsePhase } from "../../engine/phase.ts";
import { nameOf, namespaceOf } from "../find-object.ts";
import { aimed, ownCommand } from "../own-command.ts";
import { drainText, type GenerationView } from "./generation-view.ts";
import { type PodProblem, podProblem } from "./pod-problem.ts";
import { drainRemedy, IS_OPERATOR_THERE, instanceRemedy, instanceStep, podRemedy, refusalRemedy } from "./remedies.ts";

export interface Explanation {
  readonly reason: string;
  readonly why: string;
  /** What to do, when there is something. */
  readonly next: string | undefined;
}

const NOT_SEEN: Explanation = {
  reason: "NotSeen",
  why: "the operator has not reconciled it yet",
  next: IS_OPERATOR_THERE,
};

/** `reach`: how the command line names the cluster. */
export function explainInstance(
  instance: FireboltInstance,
  pods: readonly V1Pod[],
  reach?: readonly string[],
): Explanation | undefined {
  return withAim(judgeInstance(instance, pods), reach);
}

const withAim = (explanation: Explanation | undefined, reach: readonly string[] | undefined) =>
  explanation === undefined ? undefined : { ...explanation, next: aimed(explanation.next, reach) };

function judgeInstance(instance: FireboltInstance, pods: readonly V1Pod[]): Explanation | undefined {
  const { metadata, status } = instance;
  const [namespace, name] = [namespaceOf(instance), nameOf(instance)];
  const ready = findCondition(status?.conditions, "Ready");
  if (metadata?.deletionTimestamp !== undefined)
    return ready?.reason === "DeletionBlocked"
      ? { reason: ready.reason, why: ready.message, next: instanceRemedy(ready, instance) }
      : deletion(metadata.finalizers);
  if (status?.phase === undefined) return NOT_SEEN;
  if (status.phase === "Ready" && ready?.status !== "False") return troubleWhileReady(instance, pods);
  const parts = ["MetadataReady", "GatewayReady", "AuthReady", "EngineTLSReady", "GatewayTLSReady"];
  const failing =
    parts
      .map((type) => findCondition(status.conditions, type))
      .find((one) => one?.status === "False" && one.reason !== "Disabled") ?? ready;
  const problem = firstProblem(pods);
  // A lost catalogue comes first, whatever else has failed.
  if (status.phase === "Failed" && failing?.reason !== "CatalogueLost")
    return {
      reason: failing?.reason ?? "Failed",
      why: failing?.message ?? "the instance has failed",
      next: `repair the field named, or: kubectl annotate fireboltinstance ${name} -n ${namespace} firebolt.io/reset-failed="$(date +%s)" --overwrite`,
    };
  return {
    reason: failing?.reason ?? status.phase,
    why: joined(splitNextStep(failing?.message ?? "").cause, problem?.text),
    next:
      instanceRemedy(failing, instance) ??
      podRemedy(problem, failing?.type) ??
      `see its pods: kubectl get pods -n ${namespace} -l ${LABEL.instance}=${name}`,
  };
}

/** One ready replica makes a component ready: a rollout that is stuck, or a replica that is missing, is told all the same. */
function troubleWhileReady(instance: FireboltInstance, pods: readonly V1Pod[]): Explanation | undefined {
  const conditions = ["MetadataReady", "GatewayReady"].flatMap(
    (type) => findCondition(instance.status?.conditions, type) ?? [],
  );
  const told = conditions.find(({ message }) => /, but (?:its rollout is stuck|something is wrong): /.test(message));
  const problem = firstProblem(pods);
  if (told === undefined && problem?.type !== "trouble") return undefined;
  const [namespace, name] = [namespaceOf(instance), nameOf(instance)];
  return {
    reason: "ComponentTrouble",
    why: joined(splitNextStep(told?.message ?? "").cause, problem?.type === "trouble" ? problem.text : undefined),
    next:
      splitNextStep(told?.message ?? "").next ??
      podRemedy(problem, told?.type) ??
      `see its pods: kubectl get pods -n ${namespace} -l ${LABEL.instance}=${name}`,
  };
}

/** A condition may name the pod already. */
const joined = (message: string, problem: string | undefined): string =>
  problem === undefined || message.includes(problem)
    ? message
    : [message, problem].filter((text) => text !== "").join("; ");

export interface EngineFacts {
  readonly engine: FireboltEngine;
  readonly generations: readonly GenerationView[];
  readonly pods: readonly V1Pod[];
  /** How the command line names the cluster. */
  readonly reach?: readonly string[] | undefined;
}

export function explainEngine(facts: EngineFacts): Explanation | undefined {
  return withAim(judgeEngine(facts), facts.reach);
}

function judgeEngine(facts: EngineFacts): Explanation | undefined {
  const where = { namespace: namespaceOf(facts.engine), reach: facts.reach };
  const { metadata, status, spec } = facts.engine;
  if (metadata?.deletionTimestamp !== undefined) return deletion(metadata.finalizers);
  const phase = parsePhase(status?.phase);
  if (phase === "uninitialised") return NOT_SEEN;
  const held = status?.heldRollout;
  if (held?.until !== undefined) return heldExplanation(held, held.until);
  const ready = findCondition(status?.conditions, "Ready");
  const because = (next?: string): Explanation => ({
    reason: ready?.reason ?? "Unknown",
    why: ready?.message ?? "the operator has not reported its state yet",
    next,
  });
  switch (ready?.reason) {
    case "InstanceNotReady":
      return because(instanceStep(ready.message, spec?.instanceRef ?? "", where));
    case "FireboltEngineClassUnready":
    case "TemplateRejected":
    case "ResourceBoundsExceeded":
      return because("correct the field named and apply the manifest again");
    case "ObjectRejected":
    case "ReconcileFailed":
    case "FailedCreate":
    case "StatefulSetWarning":
      return because(refusalRemedy(ready.message, namespaceOf(facts.engine)));
    case "NameInUse":
      return because("delete or rename the object named, or create the engine under another name");
    case "NameRejected":
      return because("delete the engine and create it under another name");
    case "DrainCheckFailing":
      return because(drainRemedy(ready.message));
    case "Stopped":
      return isAtRest(phase) && isConfirmed(facts.engine) ? undefined : movement(facts);
    case "EngineReady":
      return isConfirmed(facts.engine)
        ? undefined
        : { reason: "SpecChanged", why: "the operator has not processed the last change yet", next: undefined };
    case "Rolling":
      return movement(facts);
    case "PodsNotReady":
      return { ...because(), ...podsExplanation(facts, status?.activeGeneration, ready.message) };
    default:
      return because(`see its events: ${ownCommand(where, ["engine", "status", nameOf(facts.engine)])}`);
  }
}

const isConfirmed = ({ metadata, status }: FireboltEngine): boolean =>
  status?.observedGeneration === undefined || status.observedGeneration === metadata?.generation;

function movement(facts: EngineFacts): Explanation {
  const { status } = facts.engine;
  const current = status?.currentGeneration ?? 0;
  switch (parsePhase(status?.phase)) {
    case "creating": {
      const starting = facts.generations.find(({ generation }) => generation === current);
      const wanted = starting?.wanted ?? facts.engine.spec?.replicas ?? 0;
      const counted = `generation ${current} starts: ${starting?.ready ?? 0} of ${wanted} pods ready`;
      // With all pods ready there is nothing to wait for but the operator.
      const isReady = starting !== undefined && wanted > 0 && starting.ready >= wanted;
      return { reason: isReady ? "AllReady" : "Creating", ...podsExplanation(facts, current, counted) };
    }
    case "switching":
      return { reason: "Switching", why: `traffic moves to generation ${current}`, next: undefined };
    case "draining": {
      const ready = findCondition(status?.conditions, "Ready");
      const kept = /: (generation \d+ is kept until .*)$/.exec(ready?.message ?? "")?.[1];
      if (kept !== undefined) return { reason: "Draining", why: kept, next: "wait" };
      const draining = facts.generations.find(({ role }) => role === "draining");
      const why = draining === undefined ? "the old generation drains" : drainText(draining);
      return { reason: "Draining", why, next: "wait, or set spec.rollout: recreate to terminate the queries" };
    }
    case "cleaning":
      return { reason: "Cleaning", why: "the old generation is being removed", next: undefined };
    default:
      return { reason: "SpecChanged", why: "the operator has not processed the last change yet", next: undefined };
  }
}

function heldExplanation({ field, manager, attempts }: HeldRollout, until: string): Explanation {
  const editor = manager ?? "another client";
  const again = attempts === 0 ? "" : ` (after ${attempts} more in a row)`;
  return {
    reason: "RolloutHeld",
    why: `a new generation waits until ${until}, because ${editor} changed the StatefulSet: ${field}${again}`,
    next: "find what changes the StatefulSets of engines, and stop it",
  };
}

function podsExplanation(
  { pods }: EngineFacts,
  generation: number | undefined,
  counted: string,
): Pick<Explanation, "why" | "next"> {
  const problem = firstProblem(pods.filter(({ metadata }) => generationLabel(metadata) === generation));
  if (problem === undefined || problem.type === "notReady") return { why: counted, next: undefined };
  return { why: joined(counted, problem.text), next: problem.next };
}

/** The kind of problem that says most. */
function firstProblem(pods: readonly V1Pod[]): PodProblem | undefined {
  const problems = pods.flatMap((pod) => podProblem(pod) ?? []);
  return problems.find(({ type }) => type !== "notReady") ?? problems[0];
}

function deletion(finalizers: readonly string[] | undefined): Explanation {
  const waiting = finalizers === undefined || finalizers.length === 0 ? "its children" : finalizers.join(", ");
  return { reason: "Deleting", why: `it is being deleted and waits for ${waiting}`, next: IS_OPERATOR_THERE };
}
