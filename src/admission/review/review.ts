// AdmissionReview v1: parses and checks the request of the API server, and renders the response. Validates no manifest.
import { GROUP, VERSION } from "../../api/group.ts";
import { type Violation, violationsText } from "../../podtemplate/rules/violation.ts";
import { isObject, type JsonObject } from "../../podtemplate/shapes/shape.ts";
import type { Hook, Operation } from "../registration/hooks.ts";

export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: Operation;
  readonly namespace: string;
  /** Empty when the API server has not generated it yet. */
  readonly name: string;
  /** The user who makes the change, as the API server authenticated it. */
  readonly username: string;
  /** Absent for DELETE. */
  readonly object: JsonObject | undefined;
  /** Absent for CREATE. */
  readonly oldObject: JsonObject | undefined;
}

export interface PatchOperation {
  readonly op: "add";
  readonly path: string;
  readonly value: unknown;
}

export type Verdict =
  | { readonly type: "allow"; readonly warnings: readonly string[]; readonly patch?: readonly PatchOperation[] }
  | {
      readonly type: "deny";
      readonly code: number;
      readonly message: string;
      readonly violations: readonly Violation[];
    };

export const ALLOW: Verdict = { type: "allow", warnings: [] };

/** The request has a uid, but does not belong to this webhook. */
export interface Misdirected {
  readonly type: "misdirected";
  readonly uid: string;
  readonly why: string;
}

export type ParsedReview =
  | { readonly type: "request"; readonly request: AdmissionRequest }
  | Misdirected
  /** Not an AdmissionReview: there is no uid to respond to. */
  | { readonly type: "malformed"; readonly why: string };

const REVIEW_VERSION = "admission.k8s.io/v1";

/** Parses a review for this webhook. Anything else is named, and never becomes a request. */
export function parseReview(value: unknown, hook: Hook): ParsedReview {
  if (!isObject(value)) return malformed("the body is not an object");
  if (value["kind"] !== "AdmissionReview" || value["apiVersion"] !== REVIEW_VERSION)
    return malformed(`the body is not an AdmissionReview of ${REVIEW_VERSION}`);
  const { request } = value;
  if (!isObject(request)) return malformed("the review has no request");
  const { uid, operation, object, oldObject } = request;
  if (typeof uid !== "string" || uid === "") return malformed("the request has no uid");
  const why = misdirection(request, hook);
  if (why !== undefined) return { type: "misdirected", uid, why };
  return {
    type: "request",
    request: {
      uid,
      operation: operation as Operation, // One of the hook's: misdirection has checked it.
      namespace: textOf(request["namespace"]),
      name: textOf(request["name"]) || nameOf(object) || nameOf(oldObject),
      username: isObject(request["userInfo"]) ? textOf(request["userInfo"]["username"]) : "",
      object: isObject(object) ? object : undefined,
      oldObject: isObject(oldObject) ? oldObject : undefined,
    },
  };
}

function misdirection(request: JsonObject, hook: Hook): string | undefined {
  const { kind, operation, subResource, object, oldObject } = request;
  if (!isObject(kind) || kind["group"] !== GROUP || kind["version"] !== VERSION || kind["kind"] !== hook.kind.kind)
    return `this webhook validates ${hook.kind.kind} of ${GROUP}/${VERSION} only`;
  if (subResource !== undefined && subResource !== null && subResource !== "")
    return "this webhook does not validate subresources";
  if (!hook.operations.some((known) => known === operation))
    return `this webhook validates ${hook.operations.join(", ")} only`;
  if (operation !== "DELETE" && !isObject(object)) return `a ${String(operation)} request needs an object`;
  if (operation === "UPDATE" && !isObject(oldObject)) return "an UPDATE request needs an oldObject";
  return undefined;
}

/** Code and message follow from the violations; the message lists all of them. */
export function denial(violations: readonly Violation[], code?: number): Verdict {
  const failed = violations.some(({ type }) => type === "Internal error");
  return { type: "deny", code: code ?? (failed ? 500 : 403), message: violationsText(violations), violations };
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  403: "Forbidden",
  500: "InternalError",
  504: "Timeout",
};

/** Kubernetes' own reasons for a single field. */
const CAUSES: Readonly<Record<Violation["type"], string>> = {
  "Required value": "FieldValueRequired",
  "Invalid value": "FieldValueInvalid",
  Forbidden: "FieldValueForbidden",
  "Not found": "FieldValueNotFound",
  "Duplicate value": "FieldValueDuplicate",
  "Internal error": "InternalError",
};

/** The whole response as JSON. */
export function renderReview(uid: string, verdict: Verdict): string {
  const response = verdict.type === "allow" ? allowedResponse(verdict) : deniedResponse(verdict);
  return JSON.stringify({ apiVersion: REVIEW_VERSION, kind: "AdmissionReview", response: { uid, ...response } });
}

function allowedResponse({ warnings, patch }: Extract<Verdict, { type: "allow" }>): object {
  return {
    allowed: true,
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(patch === undefined
      ? {}
      : { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch), "utf8").toString("base64") }),
  };
}

function deniedResponse({ code, message, violations }: Extract<Verdict, { type: "deny" }>): object {
  const causes = violations.map(({ path, type, detail }) => ({
    reason: CAUSES[type],
    field: path,
    message: detail || type,
  }));
  return {
    allowed: false,
    status: {
      status: "Failure",
      code,
      reason: REASONS[code] ?? "Forbidden",
      message,
      ...(causes.length === 0 ? {} : { details: { causes } }),
    },
  };
}

const malformed = (why: string): ParsedReview => ({ type: "malformed", why });
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function nameOf(object: unknown): string {
  const metadata = isObject(object) ? object["metadata"] : undefined;
  return isObject(metadata) ? textOf(metadata["name"]) : "";
}
