// Decodes response bodies: JSON, API Status, objects and lists. The one place where strings from the server become
// typed. Messages never quote JSON, because it may be a Secret.
import { type ApiStatus, DecodeError, KubeApiError, type StatusCause } from "../core/errors.ts";
import { type Fields, isFields, stringField } from "../core/fields.ts";
import type { KubeList, KubeObject } from "../core/object.ts";
import { apiVersionOf, type ResourceType } from "../core/resource.ts";
import { parseRetryAfter } from "./retry-after.ts";

const SHOWN_CHARACTERS = 120;

export function decodeJson(text: string, request: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message would quote the body. A body that does not even start like JSON is safe to show.
    const start = text.trimStart();
    const what = /^[{["]/.test(start)
      ? `broken JSON of ${text.length} characters`
      : `"${start.slice(0, SHOWN_CHARACTERS)}"`;
    throw new DecodeError(`${request}: expected JSON, got ${what}`);
  }
}

/** An object of the type, with the apiVersion and kind that the server omits inside lists. */
export function decodeObject<T extends KubeObject>(value: unknown, type: ResourceType<T>, request: string): T {
  if (!isObjectOf<T>(value)) throw new DecodeError(`${request}: expected a ${type.kind}, got ${typeof value}`);
  value.apiVersion ??= apiVersionOf(type);
  value.kind ??= type.kind;
  return value;
}

export function decodeList<T extends KubeObject>(
  value: unknown,
  type: ResourceType<T>,
  request: string,
): KubeList<T> & { readonly items: T[] } {
  const items = isFields(value) ? value["items"] : undefined;
  // A list without items is `null` on older servers.
  if (!isFields(value) || !(Array.isArray(items) || items === null))
    throw new DecodeError(`${request}: expected a list of ${type.kind}, got a response without items`);
  return {
    metadata: isFields(value["metadata"]) ? value["metadata"] : {},
    items: (items ?? []).map((item) => decodeObject(item, type, request)),
  };
}

/** The Status in a body; undefined for anything else (the response of a pod or of a load balancer). */
export function parseStatus(body: string): ApiStatus | undefined {
  if (!body.trimStart().startsWith("{")) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // Not JSON, so not a Status.
    return undefined;
  }
  return isFields(value) && value["kind"] === "Status" && value["apiVersion"] === "v1" ? toStatus(value) : undefined;
}

/** One response of the server with its whole body. */
export interface ApiResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** The error for a response that is not a success. */
export function apiError(request: string, response: ApiResponse, nowMs: number): KubeApiError {
  const status = parseStatus(response.body) ?? {
    message: response.body.trim().slice(0, SHOWN_CHARACTERS) || "no message",
  };
  return new KubeApiError(request, response.status, status, parseRetryAfter(response.retryAfter, nowMs));
}

function toStatus(value: Fields): ApiStatus {
  const reason = stringField(value, "reason");
  const message = stringField(value, "message");
  const details = isFields(value["details"]) ? toDetails(value["details"]) : undefined;
  return {
    kind: "Status",
    ...(typeof value["code"] === "number" && { code: value["code"] }),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(details !== undefined && { details }),
  };
}

function toDetails(details: Fields): NonNullable<ApiStatus["details"]> {
  const { retryAfterSeconds, causes } = details;
  const uid = stringField(details, "uid");
  return {
    ...(typeof retryAfterSeconds === "number" && { retryAfterSeconds }),
    ...(uid !== undefined && { uid }),
    causes: Array.isArray(causes) ? causes.filter(isFields).map(toCause) : [],
  };
}

function toCause(cause: Fields): StatusCause {
  const reason = stringField(cause, "reason");
  const message = stringField(cause, "message");
  const field = stringField(cause, "field");
  return {
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(field !== undefined && { field }),
  };
}

/** Trusts the API server to send what the type declares: it validates against the schema. */
const isObjectOf = <T extends KubeObject>(value: unknown): value is T => isFields(value);
