// The phases of an instance and the moves between them (docs/design/instance.md#phases). Pure.
import { findCondition } from "../../api/condition-list.ts";
import { RESET_FAILED_MAX_LENGTH } from "../../api/firebolt-instance/status.ts";
import { ANNOTATION } from "../../api/labels.ts";
import type { InstancePhase } from "../../api/phases.ts";
import { contentHash } from "../../podtemplate/content-hash.ts";
import type { Instance } from "../model/children.ts";

/**
 * Provisioning is never entered again: an instance that was ready, or failed, once is degraded when it is not ready.
 */
export function nextPhase(from: InstancePhase | undefined, isReady: boolean): InstancePhase {
  if (isReady) return "Ready";
  return from === undefined || from === "Provisioning" ? "Provisioning" : "Degraded";
}

/** Whether the spec, or the value of the annotation `reset-failed`, has changed since the instance failed. */
export function isReleased(instance: Instance): boolean {
  const { metadata, status } = instance;
  const ready = findCondition(status?.conditions, "Ready");
  if ((metadata?.generation ?? 0) > (ready?.observedGeneration ?? Number.POSITIVE_INFINITY)) return true;
  const value = resetFailedValue(instance);
  return value !== undefined && value !== status?.observedResetFailed;
}

/** Failed, and not released since. */
export function isAtRest({
  phase,
  instance,
}: {
  readonly phase: InstancePhase | undefined;
  readonly instance: Instance;
}) {
  return phase === "Failed" && !isReleased(instance);
}

/** Whether the condition MetadataReady reports a lost catalogue. */
export function showsLoss({ status }: Instance): boolean {
  return findCondition(status?.conditions, "MetadataReady")?.reason === "CatalogueLost";
}

/**
 * The value of the annotation as the status stores it when the instance fails: by it a later pass, of any process,
 * distinguishes a new value from one that has been used. A long value is stored as its hash.
 */
export function resetFailedValue({ metadata }: Instance): string | undefined {
  const value = metadata?.annotations?.[ANNOTATION.resetFailed];
  return value !== undefined && value.length > RESET_FAILED_MAX_LENGTH ? contentHash(value) : value;
}

/** How to leave Failed. `used` is the value that the annotation has now. */
export function resetHint(used: string | undefined): string {
  const wanted = used === undefined ? "any value" : `a value other than ${JSON.stringify(used)}`;
  // After a full stop: the message before it may end with a command.
  return `. The operator has stopped trying: edit the spec, or set the annotation ${ANNOTATION.resetFailed} to ${wanted}.`;
}
