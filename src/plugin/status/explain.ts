// Why an instance or an engine is not (yet) in its desired state, and the next step. Pure. Next steps come from the
// reason table (src/api/reasons.ts) and from what is wrong with pods; the messages of conditions are shown whole.
import { findCondition } from "../../api/condition-list.ts";
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { HeldRollout } from "../../api/firebolt-engine/status.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { ANNOTATION } from "../../api/labels.ts";
import { engineReadyRow, INSTANCE_REASONS, instanceRow, type ReasonRow, remedyFor } from "../../api/reasons.ts";
import { generationLabel } from "../../engine/model/children.ts";
import { isAtRest, parsePhase } from "../../engine/model/phase.ts";
import { contentHash } from "../../podtemplate/content-hash.ts";
import { nameOf, namespaceOf } from "../cluster/find-object.ts";
import { ownCommand, type Where, withClusterArgs } from "../own-command.ts";
import { drainText, type GenerationView, isQuiet } from "./generation-view.ts";
import { type PodProblem, podProblem } from "./pod-problem.ts";
import { drainRemedy, IS_OPERATOR_THERE, instanceStep, podRemedy, rejectionRemedy } from "./remedies.ts";

export interface Explanation {
  readonly reason: string;
  readonly why: string;
  /** What to do, if anything. */
  readonly next: string | undefined;
}

const NOT_SEEN: Explanation = {
  reason: "NotSeen",
  why: "the operator has not reconciled it yet",
  next: IS_OPERATOR_THERE,
};

export interface InstanceFacts {
  readonly instance: FireboltInstance;
  readonly pods: readonly V1Pod[];
  readonly nowMs: number;
  /** Flags with which the command line selects the cluster. */
  readonly clusterArgs?: readonly string[] | undefined;
}

export function explainInstance(facts: InstanceFacts): Explanation | undefined {
  return atCluster(instanceExplanation(facts), facts.clusterArgs);
}

const atCluster = (explanation: Explanation | undefined, clusterArgs: readonly string[] | undefined) =>
  explanation === undefined
    ? undefined
    : {
        ...explanation,
        why: withClusterArgs(explanation.why, clusterArgs),
        next: withClusterArgs(explanation.next, clusterArgs),
      };

function instanceExplanation(facts: InstanceFacts): Explanation | undefined {
  const { instance, pods, nowMs } = facts;
  const { metadata, status } = instance;
  const [namespace, name] = [namespaceOf(instance), nameOf(instance)];
  const ready = findCondition(status?.conditions, "Ready");
  if (metadata?.deletionTimestamp !== undefined)
    return ready?.reason === "DeletionBlocked"
      ? { reason: ready.reason, why: ready.message, next: remedyFor(instanceRow(ready.reason), { namespace, name }) }
      : deletion(metadata.finalizers);
  if (status?.phase === undefined) return NOT_SEEN;
  if (status.phase === "Ready" && ready?.status !== "False") return troubleWhileReady(facts);
  const parts = ["MetadataReady", "GatewayReady", "AuthReady", "EngineTLSReady", "GatewayTLSReady"];
  const failing =
    parts
      .map((type) => findCondition(status.conditions, type))
      .find((one) => one?.status === "False" && one.reason !== "Disabled") ?? ready;
  const problem = firstProblem(pods, nowMs);
  // A lost catalogue comes first, whatever else has failed.
  if (status.phase === "Failed" && failing?.reason !== "CatalogueLost")
    return {
      reason: failing?.reason ?? "Failed",
      why: failing?.message ?? "the instance has failed",
      next: `repair the field named, or: kubectl annotate fireboltinstance ${name} -n ${namespace} ${ANNOTATION.resetFailed}="$(date +%s)" --overwrite`,
    };
  return {
    reason: failing?.reason ?? status.phase,
    why: mayName(failing, problem)
      ? named(failing?.message ?? "", problem, shownCauses(instance)[failing?.type ?? ""])
      : joined(failing?.message ?? "", problem, shownCauses(instance)[failing?.type ?? ""]),
    next:
      stepOfReason(failing, { namespace, name }) ??
      podRemedy(problem, failing?.type) ??
      remedyFor(INSTANCE_REASONS.MetadataReady.Provisioning, { namespace, name }),
  };
}

/** Undefined for a component that is only starting: its pods know more than its reason. */
function stepOfReason(failing: Failing, object: ObjectName) {
  if (failing === undefined || failing.reason === "Provisioning") return undefined;
  return stepOf(instanceRow(failing.reason), failing.message, object);
}

/** Reasons that are not the operator's come from Kubernetes, and so does their message. */
function stepOf(row: ReasonRow | undefined, message: string, object: ObjectName): string | undefined {
  const quoted = row === undefined || row.isQuoting === true ? rejectionRemedy(message, object.namespace) : undefined;
  return quoted ?? remedyFor(row, object);
}

interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

type Failing = ReturnType<typeof findCondition>;

/**
 * One ready replica makes a component ready: a rollout that is stuck, or a missing replica, is reported all the same.
 */
function troubleWhileReady({ instance, pods, nowMs }: InstanceFacts): Explanation | undefined {
  const { conditions } = instance.status ?? {};
  const shown = shownCauses(instance);
  const troubled = Object.entries(shown)
    .flatMap(([type, cause]) => (cause === undefined ? [] : (findCondition(conditions, type) ?? [])))
    .at(0);
  const problem = firstProblem(pods, nowMs);
  if (troubled === undefined && problem?.type !== "trouble") return undefined;
  const [namespace, name] = [namespaceOf(instance), nameOf(instance)];
  return {
    reason: "ComponentTrouble",
    why: joined(
      troubled?.message ?? "",
      problem?.type === "trouble" ? problem : undefined,
      shown[troubled?.type ?? ""],
    ),
    next:
      podRemedy(problem, troubled?.type) ?? remedyFor(INSTANCE_REASONS.MetadataReady.Provisioning, { namespace, name }),
  };
}

/** The message may name the cause already: `shown` is the hash of the one that the operator has stored with it. */
function joined(message: string, problem: PodProblem | undefined, shown: string | undefined): string {
  const isShown = problem?.trouble !== undefined && shown === contentHash(problem.trouble.cause);
  return problem === undefined || isShown ? message : [message, problem.text].filter((text) => text !== "").join("; ");
}

/** As `joined`, for a message that names such causes. An older operator or CRD stores no hash: the cause stands alone then. */
function named(message: string, problem: PodProblem | undefined, shown: string | undefined): string {
  return problem?.trouble !== undefined && shown === undefined ? problem.text : joined(message, problem, shown);
}

/** Whether the condition of a component that starts may name the cause of this pod. */
function mayName(failing: Failing, problem: PodProblem | undefined): boolean {
  const components = COMPONENTS[failing?.type ?? ""] ?? [];
  return failing?.reason === "Provisioning" && components.includes(problem?.component ?? "");
}

const COMPONENTS: Readonly<Record<string, readonly string[]>> = {
  MetadataReady: ["metadata", "postgres"],
  GatewayReady: ["gateway"],
};

/** The operator stores the hash of the cause that a condition shows. */
function shownCauses({ status }: FireboltInstance): Readonly<Record<string, string | undefined>> {
  const { metadata, gateway } = status?.reported ?? {};
  return { MetadataReady: metadata, GatewayReady: gateway };
}

export interface EngineFacts {
  readonly engine: FireboltEngine;
  readonly generations: readonly GenerationView[];
  readonly pods: readonly V1Pod[];
  /** Whether the engine's instance exists. */
  readonly instance: "found" | "missing" | "unknown";
  readonly nowMs: number;
  /** Flags with which the command line selects the cluster. */
  readonly clusterArgs?: readonly string[] | undefined;
}

export function explainEngine(facts: EngineFacts): Explanation | undefined {
  return atCluster(engineExplanation(facts), facts.clusterArgs);
}

function engineExplanation(facts: EngineFacts): Explanation | undefined {
  const where = { namespace: namespaceOf(facts.engine), clusterArgs: facts.clusterArgs };
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
      return because(instanceStep(facts.instance, spec?.instanceRef ?? "", where));
    case "Stopped":
      return isAtRest(phase) && isConfirmed(facts.engine) ? undefined : movement(facts);
    case "EngineReady":
      return isConfirmed(facts.engine)
        ? undefined
        : { reason: "SpecChanged", why: "the operator has not processed the last change yet", next: undefined };
    case "Rolling":
      return movement(facts);
    case "PodsNotReady":
      return {
        ...because(),
        ...podsExplanation(facts, status?.activeGeneration, (problem) =>
          named(ready.message, problem, status?.reported?.podFailure),
        ),
      };
    default:
      return because(stepOfReady(ready, facts.engine) ?? `see its events: ${engineStatus(where, facts.engine)}`);
  }
}

const engineStatus = (where: Where, engine: FireboltEngine): string =>
  ownCommand(where, ["engine", "status", nameOf(engine)]);

function stepOfReady(ready: Failing, engine: FireboltEngine): string | undefined {
  if (ready === undefined) return undefined;
  const object = { namespace: namespaceOf(engine), name: nameOf(engine) };
  const isForbidden = engine.status?.drainCheckForbidden === true;
  return drainRemedy(ready.reason, isForbidden) ?? stepOf(engineReadyRow(ready.reason), ready.message, object);
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
      // With all pods ready only the operator is waited for.
      const isReady = starting !== undefined && wanted > 0 && starting.ready >= wanted;
      return {
        reason: isReady ? "AllReady" : "Creating",
        ...podsExplanation(facts, current, (problem) => joined(counted, problem, undefined)),
      };
    }
    case "switching":
      return { reason: "Switching", why: `traffic moves to generation ${current}`, next: undefined };
    case "draining": {
      const draining = facts.generations.find(({ role }) => role === "draining");
      const message = findCondition(status?.conditions, "Ready")?.message;
      // Without queries the operator knows what keeps the generation: clients with a cached address.
      if (draining !== undefined && message !== undefined && isQuiet(draining))
        return { reason: "Draining", why: message, next: "wait" };
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
  { pods, nowMs }: EngineFacts,
  generation: number | undefined,
  whyOf: (problem: PodProblem | undefined) => string,
): Pick<Explanation, "why" | "next"> {
  const ofGeneration = pods.filter(({ metadata }) => generationLabel(metadata) === generation);
  const problem = firstProblem(ofGeneration, nowMs);
  if (problem === undefined || problem.type === "notReady") return { why: whyOf(undefined), next: undefined };
  return { why: whyOf(problem), next: problem.next };
}

/** A problem with a cause, or the first one. */
function firstProblem(pods: readonly V1Pod[], nowMs: number): PodProblem | undefined {
  const problems = pods.flatMap((pod) => podProblem(pod, nowMs) ?? []);
  return problems.find(({ type }) => type !== "notReady") ?? problems[0];
}

function deletion(finalizers: readonly string[] | undefined): Explanation {
  const waiting = finalizers === undefined || finalizers.length === 0 ? "its children" : finalizers.join(", ");
  return { reason: "Deleting", why: `it is being deleted and waits for ${waiting}`, next: IS_OPERATOR_THERE };
}
