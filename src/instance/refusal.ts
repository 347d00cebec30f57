// Failed writes: what is shown of them, and whether trying again can help.
import { KubeApiError } from "../kube/errors.ts";
import type { ChildKind } from "./children.ts";

/** A write of one of the instance's objects that did not go through. */
export class ChildWriteError extends Error {
  override readonly name = "ChildWriteError";
  constructor(kind: ChildKind, object: string, problem: string, cause?: unknown) {
    super(`${kind} ${object}: ${problem}`, cause === undefined ? undefined : { cause });
  }
}

/** Longer texts hide the end of the message, where it says what to do. */
const LONGEST_PROBLEM = 1_000;

/** The refused fields and why, or whatever else the error says. */
export function problemOf(error: unknown): string {
  const fields =
    error instanceof KubeApiError ? error.causes.filter(({ field, message }) => (field ?? "") !== "" && message) : [];
  const text =
    fields.length > 0 ? fields.map(({ field, message }) => `${field}: ${message}`).join("; ") : String(error);
  return text.length > LONGEST_PROBLEM ? `${text.slice(0, LONGEST_PROBLEM - 3)}...` : text;
}

/** The API server understood the object and will not have it: only another spec, or another cluster, can change that. */
export function isPermanentRefusal(error: unknown): boolean {
  if (!(error instanceof KubeApiError)) return false;
  return error.status === 422 || (error.status === 400 && /\bimmutable\b/.test(error.message));
}
