// The gates (docs/design/engine.md#gates): what must hold before a phase that renders configuration may go on. A closed
// gate changes conditions and nothing else, and names what it waits for.

import { findCondition, type Verdict } from "../../api/condition-list.ts";
import type { EngineEventReason } from "../../api/events.ts";
import { isEnding } from "../../api/firebolt-instance/held-deletion.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { EngineInstanceReadyReason, EngineReadyReason } from "../../api/reasons.ts";
import type { Condition } from "../../api/schema/condition.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { validateTemplate } from "../../podtemplate/rules/validate-template.ts";
import { type Violation, violationsText } from "../../podtemplate/rules/violation.ts";
import { type IsProtected, protectedSecrets } from "../../podtemplate/secrets/protected-secrets.ts";
import type { EngineClass } from "../model/children.ts";
import { type EngineDecision, RECHECK_MS, type Refusal, type SecretAlias } from "../model/decision.ts";
import type { EnginePhase } from "../model/phase.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";
import { validateEngine } from "../model/validate.ts";
import type { InstanceInfo } from "../render/generation.ts";
import { type EffectiveEngine, resolveEngine } from "../resolve/effective-engine.ts";
import { findSecretAliases, validateAccounts, validateEnvironment } from "../resolve/secret-alias.ts";
import { refused, withVerdicts } from "./next-status.ts";

export interface OpenGate {
  readonly type: "open";
  readonly effective: EffectiveEngine;
  /** What of the templates is not in it. */
  readonly leftOut: readonly SecretAlias[];
  readonly instance: InstanceInfo;
  readonly instanceReady: Verdict;
}

export type Gate = OpenGate | { readonly type: "closed"; readonly decision: EngineDecision };

export function computeGates(s: EngineSnapshot, phase: EnginePhase): Gate {
  const unusableClass = classProblem(s);
  if (unusableClass !== undefined)
    return closed(s, phase, { step: "class-gate", reason: "FireboltEngineClassUnready", ...unusableClass });
  const instance = instanceFor(s);
  if (typeof instance === "string") {
    const verdict = instanceVerdict("False", "InstanceNotReady", instance);
    return closed(s, phase, {
      step: "instance-gate",
      reason: "InstanceNotReady",
      message: instance,
      instanceReady: verdict,
    });
  }
  const provided = `FireboltInstance ${JSON.stringify(s.engine.spec?.instanceRef)} provides a metadata endpoint and an id`;
  const instanceReady = instanceVerdict("True", "InstanceReady", provided);
  const isProtected = protectedSecrets(instance.object, s.defaults.operator);
  const rejection = rejectionOf(s, instanceReady, isProtected);
  if (rejection !== undefined) return closed(s, phase, rejection);
  const layers = { engine: s.engine, engineClass: foundClass(s) };
  const leftOut = findSecretAliases(layers, isProtected);
  const volumes = new Set(leftOut.map(({ volume }) => volume));
  const effective = resolveEngine({ ...layers, defaults: s.defaults, leftOut: volumes });
  return { type: "open", effective, leftOut, instance: instance.info, instanceReady };
}

interface Closing {
  readonly step: "class-gate" | "instance-gate" | "validation-gate";
  readonly reason: EngineReadyReason;
  readonly message: string;
  /** None while engines wait for their instance: they are created before it is ready all the time. */
  readonly event?: EngineEventReason;
  readonly violations?: readonly Violation[];
  readonly instanceReady?: Verdict;
}

function closed(s: EngineSnapshot, phase: EnginePhase, closing: Closing): Gate {
  const { step, reason, message, event, violations = [], instanceReady } = closing;
  const ready: Verdict = { type: "Ready", status: "False", reason, message };
  const verdicts = instanceReady === undefined ? [ready] : [instanceReady, ready];
  const refusal: Refusal = { reason, message, event, violations };
  const status = refused(withVerdicts(s, phase, verdicts), refusal);
  return { type: "closed", decision: { type: "refuse", step, status, refusal, recheck: { afterMs: RECHECK_MS.gate } } };
}

/** A class without a verdict of its own, or one whose deletion is held up, is usable. */
function classProblem({ engineClass, identity }: EngineSnapshot): Pick<Closing, "message" | "event"> | undefined {
  switch (engineClass.type) {
    case "none":
      return undefined;
    case "missing": {
      const message = `FireboltEngineClass ${JSON.stringify(engineClass.name)} not found in namespace ${identity.namespace} (classes are looked up in the engine's own namespace)`;
      return { message, event: "EngineClassNotFound" };
    }
    case "found": {
      const message = refusedTemplate(engineClass.object);
      return message === undefined ? undefined : { message, event: "EngineClassUnready" };
    }
    default:
      return engineClass satisfies never;
  }
}

/** A template that the class controller has not judged yet is judged here: an edit must not slip through in between. */
function refusedTemplate({ metadata, spec, status }: EngineClass): string | undefined {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const judged = ready !== undefined && (ready.observedGeneration ?? metadata?.generation) === metadata?.generation;
  const violations = judged ? [] : validateTemplate("engine", spec?.template, "spec.template");
  const refused = judged ? ready.status === "False" && ready.reason === "OperatorOwnedFieldSet" : violations.length > 0;
  if (!refused) return undefined;
  const message = judged ? ready.message : violationsText(violations);
  return `FireboltEngineClass ${JSON.stringify(metadata?.name)} cannot be used: ${message}`;
}

/** What the engine takes from its instance, or why there is nothing to take. */
function instanceFor(
  s: EngineSnapshot,
): { readonly info: InstanceInfo; readonly object: DeepReadonly<FireboltInstance> } | string {
  const { instance, identity, engine } = s;
  const name = engine.spec?.instanceRef;
  if (name === undefined || name === "") return "spec.instanceRef names no FireboltInstance";
  const quoted = `FireboltInstance ${JSON.stringify(name)}`;
  if (instance === undefined)
    return `${quoted} not found in namespace ${identity.namespace} (instances are looked up in the engine's own namespace)`;
  const ready = findCondition(instance.status?.conditions, "Ready");
  // While its engines hold the deletion an instance works as before, and so must they: stopped ones are still woken.
  if (isEnding(instance)) return `${quoted} is being deleted`;
  const metadataEndpoint = instance.status?.metadataEndpoint;
  if (metadataEndpoint === undefined || metadataEndpoint === "") return `${quoted} ${endpointProblem(instance, ready)}`;
  const { id } = instance.spec;
  if (id === undefined || id === "") return `${quoted} has no id yet (spec.id)`;
  return { info: { id, metadataEndpoint }, object: instance };
}

/** One that was never ready will get its endpoint; one that lost it reports why in its own conditions. */
function endpointProblem({ status }: DeepReadonly<FireboltInstance>, ready: Readonly<Condition> | undefined): string {
  if (status?.phase === undefined || status.phase === "Provisioning") return "has no metadata endpoint yet";
  const cause = ready === undefined || ready.status === "True" ? "" : `: ${ready.message}`;
  return `has lost its metadata endpoint${cause}`;
}

function instanceVerdict(status: "True" | "False", reason: EngineInstanceReadyReason, message: string): Verdict {
  return { type: "InstanceReady", status, reason, message };
}

/** The checks of admission again, for objects that were stored without it. */
function rejectionOf(s: EngineSnapshot, instanceReady: Verdict, isProtected: IsProtected): Closing | undefined {
  const { engine, bounds, identity, defaults } = s;
  const accounts = { namespace: identity.namespace, operator: defaults.operator };
  const layers = { engine, engineClass: foundClass(s) };
  const { name, template, bounds: exceeded } = validateEngine({ ...layers, bounds });
  const templates = [...template, ...validateEnvironment(layers, isProtected), ...validateAccounts(layers, accounts)];
  const [reason, violations]: readonly [EngineReadyReason & EngineEventReason, readonly Violation[]] =
    name.length > 0
      ? ["NameRejected", name]
      : templates.length > 0
        ? ["TemplateRejected", templates]
        : ["ResourceBoundsExceeded", exceeded];
  if (violations.length === 0) return undefined;
  return {
    step: "validation-gate",
    reason,
    message: violationsText(violations),
    event: reason,
    violations,
    instanceReady,
  };
}

function foundClass({ engineClass }: EngineSnapshot): EngineClass | undefined {
  return engineClass.type === "found" ? engineClass.object : undefined;
}
