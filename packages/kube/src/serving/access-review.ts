// Authenticates a bearer token and authorizes its user for one non-resource path through the API server (TokenReview,
// then SubjectAccessReview). Caches the results for a while, never the tokens. Makes no decisions itself.
import { createHash } from "node:crypto";
import type { KubeClient } from "../client/client.ts";
import type { Clock } from "../core/clock.ts";
import { DecodeError } from "../core/errors.ts";
import { ExpiringCache } from "../core/expiring-cache.ts";
import { type Fields, isFields } from "../core/fields.ts";

/** `unauthenticated`: the API server does not accept the token. */
export type AccessVerdict = "allowed" | "denied" | "unauthenticated";

/** Decides whether the user of a token may read one path. */
export interface AccessReview {
  /** Rejects if the API server cannot be reached or its response is invalid. */
  check(token: string, signal: AbortSignal): Promise<AccessVerdict>;
}

/** Which path and verb are reviewed, and the limits of the cache. */
export interface AccessReviewOptions {
  /** Reviews are POST requests but write nothing: this client must not carry the fence of a lease. */
  readonly client: Pick<KubeClient, "request">;
  readonly clock: Clock;
  readonly path: string;
  readonly verb: string;
  readonly limits?: AccessReviewLimits;
}

export interface AccessReviewLimits {
  /** The most results to cache, of each kind. */
  readonly remembered: number;
  /** The most tokens to review concurrently. */
  readonly inFlight: number;
}

const LIMITS: AccessReviewLimits = { remembered: 1_024, inFlight: 32 };
const TOKEN_MS = 60_000;
const ALLOWED_MS = 300_000;
const DENIED_MS = 30_000;
const CALL_TIMEOUT_MS = 10_000;

/** As returned by the API server, and sent back to it unchanged. */
interface User {
  readonly user: string;
  readonly uid: unknown;
  readonly groups: unknown;
  readonly extra: unknown;
}

/** Reviews tokens through the API server, and caches the results for a while. */
export function createAccessReview(options: AccessReviewOptions): AccessReview {
  const { client, clock, limits = LIMITS } = options;
  const users = new ExpiringCache<User>(clock, limits.remembered);
  // Separate, so that random tokens cannot evict valid ones.
  const rejectedTokens = new ExpiringCache<true>(clock, limits.remembered);
  const verdicts = new ExpiringCache<AccessVerdict>(clock, limits.remembered);
  const inFlight = new Map<string, Promise<AccessVerdict>>();

  const identify = async (digest: string, token: string, signal: AbortSignal): Promise<User | undefined> => {
    const known = users.get(digest);
    if (known !== undefined || rejectedTokens.get(digest)) return known;
    const user = await reviewToken(client, token, signal);
    if (user === undefined) rejectedTokens.set(digest, true, TOKEN_MS);
    else users.set(digest, user, TOKEN_MS);
    return user;
  };
  const authorize = async (digest: string, token: string, signal: AbortSignal): Promise<AccessVerdict> => {
    const user = await identify(digest, token, signal);
    if (user === undefined) return "unauthenticated";
    const key = JSON.stringify(user);
    const known = verdicts.get(key);
    if (known !== undefined) return known;
    const verdict = (await reviewAccess(user, options, signal)) ? "allowed" : "denied";
    verdicts.set(key, verdict, verdict === "allowed" ? ALLOWED_MS : DENIED_MS);
    return verdict;
  };

  return {
    check(token, signal) {
      const digest = createHash("sha256").update(token).digest("base64");
      const running = inFlight.get(digest);
      if (running !== undefined) return running;
      if (inFlight.size >= limits.inFlight)
        return Promise.reject(new Error(`already reviewing ${limits.inFlight} tokens`));
      const verdict = authorize(digest, token, signal).finally(() => inFlight.delete(digest));
      inFlight.set(digest, verdict);
      return verdict;
    },
  };
}

async function reviewToken(
  client: AccessReviewOptions["client"],
  token: string,
  signal: AbortSignal,
): Promise<User | undefined> {
  const [apiVersion, kind] = ["authentication.k8s.io/v1", "TokenReview"];
  const path = `/apis/${apiVersion}/tokenreviews`;
  const status = await post(client, path, { apiVersion, kind, spec: { token } }, signal);
  if (status["authenticated"] !== true) return undefined;
  const user = status["user"];
  if (!isFields(user) || typeof user["username"] !== "string" || user["username"] === "")
    throw new DecodeError("TokenReview authenticated the token but returned no username");
  return { user: user["username"], uid: user["uid"], groups: user["groups"], extra: user["extra"] };
}

async function reviewAccess(
  user: User,
  { client, path: reviewed, verb }: AccessReviewOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const [apiVersion, kind] = ["authorization.k8s.io/v1", "SubjectAccessReview"];
  const path = `/apis/${apiVersion}/subjectaccessreviews`;
  const spec = { ...user, nonResourceAttributes: { path: reviewed, verb } };
  return (await post(client, path, { apiVersion, kind, spec }, signal))["allowed"] === true;
}

/** The status of the review. */
async function post(
  client: AccessReviewOptions["client"],
  path: string,
  body: object,
  signal: AbortSignal,
): Promise<Fields> {
  const response = await client.request({ method: "POST", path, body, signal, timeoutMs: CALL_TIMEOUT_MS });
  const status = isFields(response) ? response["status"] : undefined;
  if (!isFields(status)) throw new DecodeError(`POST ${path}: the response has no status`);
  return status;
}
