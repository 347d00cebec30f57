// The decision about a class (docs/design/instance.md#classes): judge its template, count its engines, and hold it
// while one of them names it. Pure: no I/O, and the clock is an argument.
import { type Verdict, withVerdict } from "../api/condition-list.ts";
import { type EngineClassStatus, FireboltEngineClass } from "../api/firebolt-engine/engine-class.ts";
import type { EngineClassReadyReason } from "../api/reasons.ts";
import type { DeepReadonly } from "../api/values/deep-readonly.ts";
import { validateTemplate } from "../podtemplate/rules/validate-template.ts";
import { violationsText } from "../podtemplate/rules/violation.ts";
import type { EngineClassDecision } from "./decision.ts";

export type EngineClass = DeepReadonly<FireboltEngineClass>;

export interface EngineClassSnapshot {
  readonly nowMs: number;
  readonly engineClass: EngineClass;
  /**
   * Engines that name the class, terminating ones included. While it is being deleted, as the API server counts them.
   */
  readonly boundEngines: number;
}

export function computeEngineClass(s: EngineClassSnapshot): EngineClassDecision {
  const { metadata } = s.engineClass;
  const guarded = metadata?.finalizers?.includes(FireboltEngineClass.finalizer) === true;
  if (metadata?.deletionTimestamp === undefined)
    return guarded ? { type: "judge", status: statusWith(s, templateVerdict(s)) } : { type: "guard" };
  if (!guarded) return { type: "leave" };
  return s.boundEngines === 0 ? { type: "release" } : { type: "block", status: statusWith(s, blockedVerdict(s)) };
}

function templateVerdict({ engineClass }: EngineClassSnapshot): Verdict<"Ready", EngineClassReadyReason> {
  const violations = validateTemplate("engine", engineClass.spec?.template, "spec.template");
  return violations.length === 0
    ? { type: "Ready", status: "True", reason: "Admissible", message: "The template can be used by engines" }
    : { type: "Ready", status: "False", reason: "OperatorOwnedFieldSet", message: violationsText(violations) };
}

function blockedVerdict({ engineClass, boundEngines }: EngineClassSnapshot): Verdict<"Ready", EngineClassReadyReason> {
  const { namespace, name } = engineClass.metadata ?? {};
  const engines = boundEngines === 1 ? "1 engine" : `${boundEngines} engines`;
  const message = `FireboltEngineClass ${JSON.stringify(name)} is still referenced by ${engines} of namespace ${namespace}: clear spec.engineClassRef there, or delete them`;
  return { type: "Ready", status: "False", reason: "DeletionBlocked", message };
}

function statusWith({ engineClass, boundEngines, nowMs }: EngineClassSnapshot, verdict: Verdict): EngineClassStatus {
  const observedGeneration = engineClass.metadata?.generation ?? 0;
  const conditions = withVerdict(engineClass.status?.conditions, verdict, { nowMs, observedGeneration });
  return { ...engineClass.status, observedGeneration, boundEngines, conditions };
}
