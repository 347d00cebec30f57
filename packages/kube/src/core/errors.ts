// Errors of the client: the API server rejected the request, did not respond, responded too late or with something
// undecodable, or the cluster configuration is invalid. Nothing here acts; callers distinguish the cases and decide.

/** An entry of `details.causes` in an API Status: one rejected field. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The body of the response to a rejected request. */
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

/** The API server rejected the request. */
export class KubeApiError extends Error {
  override readonly name = "KubeApiError";
  /** HTTP status code. */
  readonly status: number;
  /** The API's reason: `NotFound`, `Conflict`, `AlreadyExists`, `Invalid`, `Expired`, … Empty if the body had none. */
  readonly reason: string;
  /** The message of the response, without the request and the status that `message` begins with. */
  readonly serverMessage: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterMs: number | undefined;

  constructor(request: string, status: number, body: ApiStatus, retryAfterMs?: number) {
    const serverMessage = body.message ?? "no message";
    super(`${request}: ${status} ${body.reason ?? ""}: ${serverMessage}`.replace(" : ", ": "));
    this.serverMessage = serverMessage;
    this.status = status;
    this.reason = body.reason ?? "";
    this.causes = body.details?.causes ?? [];
    const seconds = body.details?.retryAfterSeconds;
    this.retryAfterMs = retryAfterMs ?? (seconds === undefined ? undefined : seconds * 1000);
  }
}

/** No response: connection refused, reset, unresolvable, broken TLS. The request may or may not have taken effect. */
export class KubeConnectionError extends Error {
  override readonly name = "KubeConnectionError";
}

/** The deadline of the call passed. The request may or may not have taken effect. */
export class KubeTimeoutError extends Error {
  override readonly name = "KubeTimeoutError";
}

/** The response is not what the API specifies (not JSON, not an object, an unknown watch event). */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** The response is larger than the caller's limit. */
export class ResponseTooLargeError extends Error {
  override readonly name = "ResponseTooLargeError";
}

/** The cluster configuration (kubeconfig, service account, proxy) is invalid; the message says what to change. */
export class KubeConfigError extends Error {
  override readonly name = "KubeConfigError";
  /** The message without values of the configuration, which may be credentials. */
  readonly safeMessage: string;
  /** Nothing in the configuration can be used: it is no kubeconfig, or it has no contexts. */
  readonly isUnusable: boolean;

  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(message, options);
    this.safeMessage = options.safeMessage ?? message;
    this.isUnusable = options.isUnusable ?? false;
  }
}

/** What a KubeConfigError carries besides its message. */
export interface ConfigErrorOptions extends ErrorOptions {
  readonly safeMessage?: string;
  readonly isUnusable?: boolean;
}

/** The credentials could not be obtained: an unreadable file, or a credential plugin that failed. */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
}

/** This process must not write: another process may hold the lease. */
export class NotLeaderError extends Error {
  override readonly name = "NotLeaderError";
}

/** A defect of the program itself: counted and reported, never worked around. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

const hasStatus = (error: unknown, status: number): error is KubeApiError =>
  error instanceof KubeApiError && error.status === status;

/** 404. */
export const isNotFound = (error: unknown): boolean => hasStatus(error, 404);
/** 410: a resource version or a continue token that the server no longer has. */
export const isGone = (error: unknown): boolean => hasStatus(error, 410);
/** 403. */
export const isForbidden = (error: unknown): boolean => hasStatus(error, 403);
/** 422: the object is invalid. */
export const isInvalid = (error: unknown): boolean => hasStatus(error, 422);
/**
 * 409 because the object changed since it was read: not because the name exists, nor because another manager owns a
 * field.
 */
export const isConflict = (error: unknown): boolean =>
  hasStatus(error, 409) && error.reason !== "AlreadyExists" && !isFieldConflict(error);
/** 409: the name exists already. */
export const isAlreadyExists = (error: unknown): boolean => hasStatus(error, 409) && error.reason === "AlreadyExists";

/**
 * 409 of a server-side apply without force: another manager owns a field with another value. Retrying does not help.
 */
export const isFieldConflict = (error: unknown): boolean =>
  hasStatus(error, 409) && error.causes.some(({ reason }) => reason === "FieldManagerConflict");

/**
 * The API server rejected the object itself: validation, admission policy, webhook, quota, permissions, or a webhook
 * that cannot be called. The same request fails again until something is changed. A namespace that is being deleted
 * does not count: that resolves itself.
 */
export function isRejection(error: unknown): error is KubeApiError {
  if (!(error instanceof KubeApiError)) return false;
  switch (error.status) {
    case 400:
    case 422:
      return true;
    case 403:
      return !error.causes.some(({ reason }) => reason === "NamespaceTerminating");
    case 500:
      // Only the message distinguishes a webhook that cannot be called from a failure of the API server.
      return /failed (?:calling|to call) webhook/.test(error.message);
    default:
      return false;
  }
}
