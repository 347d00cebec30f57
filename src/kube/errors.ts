// What can go wrong between the operator and the API server, as types: the API's own refusal with its reason,
// a call that never got an answer, and a call that took too long.

/** The `details.causes` entry of an API Status: one refused field. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The body that the API server answers a refused request with. */
export interface ApiStatus {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly StatusCause[];
    readonly uid?: string;
  };
}

/** The API server answered, and the answer is no. */
export class KubeApiError extends Error {
  override readonly name = "KubeApiError";
  /** HTTP status code. */
  readonly status: number;
  /** The API's reason: `NotFound`, `Conflict`, `AlreadyExists`, `Invalid`, `Expired`, … Empty when the body had none. */
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterMs: number | undefined;

  constructor(request: string, status: number, body: ApiStatus, retryAfterMs?: number) {
    super(`${request}: ${status} ${body.reason ?? ""}: ${body.message ?? "no message"}`.replace(" : ", ": "));
    this.status = status;
    this.reason = body.reason ?? "";
    this.causes = body.details?.causes ?? [];
    const seconds = body.details?.retryAfterSeconds;
    this.retryAfterMs = retryAfterMs ?? (seconds === undefined ? undefined : seconds * 1000);
  }
}

/** No answer: refused, reset, unresolvable, broken TLS. The request may or may not have had an effect. */
export class KubeConnectionError extends Error {
  override readonly name = "KubeConnectionError";
}

/** The deadline of the call passed. The request may or may not have had an effect. */
export class KubeTimeoutError extends Error {
  override readonly name = "KubeTimeoutError";
}

/** The operator may not write any more: another process may hold the lease. */
export class NotLeaderError extends Error {
  override readonly name = "NotLeaderError";
}

/** A bug in the operator itself: counted and reported, never repaired in passing. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

const hasStatus = (error: unknown, status: number): boolean => error instanceof KubeApiError && error.status === status;

export const isNotFound = (error: unknown): boolean => hasStatus(error, 404);
export const isGone = (error: unknown): boolean => hasStatus(error, 410);
export const isForbidden = (error: unknown): boolean => hasStatus(error, 403);
export const isInvalid = (error: unknown): boolean => hasStatus(error, 422);
/** 409 because the object changed since it was read (not because the name is taken). */
export const isConflict = (error: unknown): boolean =>
  hasStatus(error, 409) && (error as KubeApiError).reason !== "AlreadyExists";
export const isAlreadyExists = (error: unknown): boolean =>
  hasStatus(error, 409) && (error as KubeApiError).reason === "AlreadyExists";
