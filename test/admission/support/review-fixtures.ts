// AdmissionReviews as the API server sends them, for tests without one, and a parser for the responses.
import { HOOKS, type Hook, type HookId } from "../../../src/admission/registration/hooks.ts";
import type { Violation } from "../../../src/podtemplate/rules/violation.ts";

export function hookOf(id: HookId): Hook {
  const hook = HOOKS.find((one) => one.id === id);
  if (hook === undefined) throw new Error(`no webhook ${id}`);
  return hook;
}

export interface Question {
  readonly operation?: string;
  readonly object?: unknown;
  readonly oldObject?: unknown;
  readonly namespace?: string;
  readonly name?: string;
}

export const UID = "705ab4f5-6393-11e8-b7cc-42010a800002";

/** A whole AdmissionReview; `changes` are laid over its request. */
export function review(id: HookId, question: Question, changes: Readonly<Record<string, unknown>> = {}): object {
  const { kind, version, group, plural } = hookOf(id).kind;
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: UID,
      kind: { group, version, kind },
      resource: { group, version, resource: plural },
      name: question.name ?? "x",
      namespace: question.namespace ?? "ns",
      operation: question.operation ?? "CREATE",
      userInfo: { username: "mara" },
      object: question.object ?? null,
      oldObject: question.oldObject ?? null,
      dryRun: false,
      ...changes,
    },
  };
}

export interface ReviewResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly warnings?: readonly string[];
  readonly patch?: string;
  readonly status?: {
    readonly code: number;
    readonly reason: string;
    readonly message: string;
    readonly details?: { readonly causes: readonly { readonly field: string; readonly reason: string }[] };
  };
}

export function parseResponse(text: string): ReviewResponse {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || !("response" in value)) throw new Error(`no review: ${text}`);
  return value.response as ReviewResponse;
}

export const pathsOf = (violations: readonly Violation[]): string[] => violations.map(({ path }) => path);
