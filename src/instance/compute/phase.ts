// The phases of an instance and the way between them (docs/design/instance.md#phases). Pure.
import { findCondition } from "../../api/condition-list.ts";
import { ANNOTATION } from "../../api/labels.ts";
import type { InstancePhase } from "../../api/phases.ts";
import { contentHash } from "../../podtemplate/content-hash.ts";
import type { Instance } from "../children.ts";

/** Provisioning is never entered again: an instance that was ready, or failed, once is degraded when it is not ready. */
export function nextPhase(from: InstancePhase | undefined, isReady: boolean): InstancePhase {
  if (isReady) return "Ready";
  return from === undefined || from === "Provisioning" ? "Provisioning" : "Degraded";
}

/** Whether somebody has edited the spec, or asked for another try, since the instance failed. */
export function isReleased({ metadata, status }: Instance): boolean {
  const ready = findCondition(status?.conditions, "Ready");
  if ((metadata?.generation ?? 0) > (ready?.observedGeneration ?? Number.POSITIVE_INFINITY)) return true;
  const value = metadata?.annotations?.[ANNOTATION.resetFailed];
  return value !== undefined && !(ready?.message ?? "").endsWith(resetHint(value).slice(1));
}

/** Failed, and nobody has acted since. */
export function isAtRest({
  phase,
  instance,
}: {
  readonly phase: InstancePhase | undefined;
  readonly instance: Instance;
}) {
  return phase === "Failed" && !isReleased(instance);
}

/** Whether its condition tells of a lost catalogue. */
export function showsLoss({ status }: Instance): boolean {
  return findCondition(status?.conditions, "MetadataReady")?.reason === "CatalogueLost";
}

const LONGEST_VALUE = 64;

/**
 * How to leave Failed, for people. It names the annotation's value at that moment, which is also how a later pass, of any
 * process, tells a new value from one that has been used.
 */
export function resetHint(value: string | undefined): string {
  const given = value !== undefined && value.length > LONGEST_VALUE ? contentHash(value) : value;
  const wanted = given === undefined ? "any value" : `a value other than ${JSON.stringify(given)}`;
  // Behind a full stop: what stands before may end with a command.
  return `. The operator has stopped trying: edit the spec, or set the annotation ${ANNOTATION.resetFailed} to ${wanted}.`;
}
