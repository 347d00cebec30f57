// Rejected writes: what the condition shows of them, and whether a retry, another spec or another cluster can change
// the outcome.

import { isFieldConflict, KubeApiError, NotLeaderError } from "@firebolt-operator/kube";
import { API_VERSION, INSTANCE_NAMES } from "../../api/group.ts";
import { stableText } from "../../pods/stable-text.ts";
import { type ChildKind, type ChildMetadata, controllerOf } from "./children.ts";
import type { InstanceIdentity } from "./names.ts";

/** A write of one of the instance's objects that failed. */
export class ChildWriteError extends Error {
  override readonly name = "ChildWriteError";
  constructor(kind: ChildKind, object: string, problem: string, cause?: unknown) {
    super(`${kind} ${object}: ${problem}`, cause === undefined ? undefined : { cause });
  }
}

/** The engines that would hold a deletion could not be listed. */
export class UnknownHoldError extends Error {
  override readonly name = "UnknownHoldError";
}

/** A longer problem would hide the end of the message, which has the next step. */
const LONGEST_PROBLEM = 1_000;

/** The rejected fields and why, or else the error's own message. */
export function problemOf(error: unknown): string {
  const fields =
    error instanceof KubeApiError ? error.causes.filter(({ field, message }) => (field ?? "") !== "" && message) : [];
  const words =
    fields.length > 0 ? fields.map(({ field, message }) => `${field}: ${message}`).join("; ") : String(error);
  return stableText(words, LONGEST_PROBLEM);
}

/** Why an object that exists under a name of the instance is not written, and what the user can do about it. */
export function takenProblem(metadata: ChildMetadata | undefined, { name, uid }: InstanceIdentity): string {
  const owner = controllerOf(metadata);
  if (owner?.uid === uid) return "is still being deleted";
  const isEarlier = owner?.apiVersion === API_VERSION && owner.kind === INSTANCE_NAMES.kind && owner.name === name;
  if (isEarlier)
    return `exists and belongs to an earlier ${INSTANCE_NAMES.kind} ${name}: garbage collection deletes it, or delete it yourself`;
  const whose = owner === undefined ? "has no owner" : `belongs to ${owner.kind} ${owner.name}`;
  return (
    `exists and ${whose}, so the operator neither changes nor deletes it: ` +
    "delete or rename it, or give the instance another name"
  );
}

/** The API server understood the object and rejects it: only another spec, or another cluster, can change that. */
export function isPermanentRejection(error: unknown): boolean {
  const { status, message = "" } = apiErrorOf(error) ?? {};
  return status === 422 || (status === 400 && /\bimmutable\b/.test(message));
}

/** Responses about this one object: a policy, a quota, a missing right, a webhook or an apply that fails. */
const REJECTIONS: ReadonlySet<number> = new Set([400, 403, 404, 422, 500]);

/**
 * Whether the write was rejected because of the object itself. Such a write is retried at a fixed pace, because no
 * event reports that a quota was raised or a policy lifted; every other failure (no response, overload, a conflict)
 * backs off.
 */
export function isRejection(error: unknown): boolean {
  if (error instanceof ChildWriteError && error.cause === undefined) return true;
  const found = apiErrorOf(error);
  return found !== undefined && (REJECTIONS.has(found.status) || isFieldConflict(found));
}

function apiErrorOf(error: unknown): KubeApiError | undefined {
  const cause = error instanceof ChildWriteError || error instanceof UnknownHoldError ? error.cause : error;
  return cause instanceof KubeApiError ? cause : undefined;
}

/** A process that is no longer the leader reports nothing. */
export function isNotLeader(error: unknown): boolean {
  return error instanceof NotLeaderError || (error instanceof Error && error.cause instanceof NotLeaderError);
}
