// What can go wrong between the operator and the API server, as types: the API's own refusal with its reason,
// a call that never got an answer, a call that took too long, an answer that makes no sense, and a way in that is
// described wrongly. Nothing here acts; callers tell the cases apart and decide.

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

/** The server answered with something that is not what the API promises (not JSON, not an object, an unknown watch event). */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** The answer is larger than the caller is ready to hold in memory. */
export class ResponseTooLargeError extends Error {
  override readonly name = "ResponseTooLargeError";
}

/** The description of the cluster (kubeconfig, service account folder, proxy) cannot be used; the message says what to change. */
export class KubeConfigError extends Error {
  override readonly name = "KubeConfigError";
}

/** The credentials could not be obtained: an unreadable file, or a credential plugin that failed. */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
}

/** The operator may not write any more: another process may hold the lease. */
export class NotLeaderError extends Error {
  override readonly name = "NotLeaderError";
}

/** A bug in the operator itself: counted and reported, never repaired in passing. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

const hasStatus = (error: unknown, status: number): error is KubeApiError =>
  error instanceof KubeApiError && error.status === status;

/** 404. */
export const isNotFound = (error: unknown): boolean => hasStatus(error, 404);
/** 410: a version or a continue token that the server no longer remembers. */
export const isGone = (error: unknown): boolean => hasStatus(error, 410);
/** 403. */
export const isForbidden = (error: unknown): boolean => hasStatus(error, 403);
/** 422: the object itself is not accepted. */
export const isInvalid = (error: unknown): boolean => hasStatus(error, 422);
/** 409 because the object changed since it was read: not because the name is taken, nor because another manager owns a field. */
export const isConflict = (error: unknown): boolean =>
  hasStatus(error, 409) && error.reason !== "AlreadyExists" && !isFieldConflict(error);
/** 409: the name is taken. */
export const isAlreadyExists = (error: unknown): boolean => hasStatus(error, 409) && error.reason === "AlreadyExists";

/** 409 of a server-side apply without force: another manager owns a field with another value. It stays until one of them yields. */
export const isFieldConflict = (error: unknown): boolean =>
  hasStatus(error, 409) && error.causes.some(({ reason }) => reason === "FieldManagerConflict");

/**
 * The API server rejected the object itself: validation, admission policy, webhook, quota, permissions, or a webhook that cannot be
 * called. The same request fails again until somebody changes something. A namespace that is being deleted is no such refusal: it
 * ends by itself.
 */
export function isRefusal(error: unknown): error is KubeApiError {
  if (!(error instanceof KubeApiError)) return false;
  switch (error.status) {
    case 400:
    case 422:
      return true;
    case 403:
      return !error.causes.some(({ reason }) => reason === "NamespaceTerminating");
    case 500:
      // Only the message tells a webhook that cannot be called from a failure of the API server.
      return /failed (?:calling|to call) webhook/.test(error.message);
    default:
      return false;
  }
}
