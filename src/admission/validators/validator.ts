// The verdict of a webhook on one request. A validator reads and compares; it changes nothing, so that a dry run is like
// any other request.
import type { Violation } from "../../podtemplate/rules/violation.ts";
import { isDecodableTemplate } from "../review/decode.ts";
import { type AdmissionRequest, ALLOW, denial, type Verdict } from "../review/review.ts";

export type Validator = (request: AdmissionRequest, signal: AbortSignal) => Promise<Verdict>;

export interface Findings {
  readonly violations: readonly Violation[];
  readonly warnings: readonly string[];
  /** The pod templates of the object. */
  readonly templates: readonly unknown[];
}

/** All violations at once; warnings only when there are none. */
export function verdictOf({ violations, warnings, templates }: Findings): Verdict {
  if (violations.length > 0) return denial(violations, templates.every(isDecodableTemplate) ? undefined : 400);
  return warnings.length > 0 ? { type: "allow", warnings } : ALLOW;
}

/** The violation for something that could not be looked up. */
export function lookupFailed(path: string, what: string, error: unknown): Violation {
  const why = error instanceof Error ? error.message : String(error);
  return { path, type: "Internal error", detail: `${what} could not be looked up: ${why}` };
}
