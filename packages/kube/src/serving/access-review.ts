// Asks the API server who a bearer token belongs to, and whether that user may read one path that is no resource (TokenReview, then
// SubjectAccessReview). Remembers the answers for a while, never the tokens. It decides nothing by itself.
import { createHash } from "node:crypto";
import type { KubeClient } from "../client/client.ts";
import type { Clock } from "../core/clock.ts";
import { DecodeError } from "../core/errors.ts";
import { ExpiringCache } from "../core/expiring-cache.ts";
import { type Fields, isFields } from "../core/fields.ts";

/** `unauthenticated`: the API server does not know the token. */
export type AccessVerdict = "allowed" | "denied" | "unauthenticated";

/** Says whether the owner of a token may read one path. */
export interface AccessReview {
  /** Rejects when the API server cannot be asked, or answers nonsense. */
  check(token: string, signal: AbortSignal): Promise<AccessVerdict>;
}

export interface AccessReviewOptions {
  /** Reviews are writes in form only: this client must not be subject to the fence of a lease. */
  readonly client: Pick<KubeClient, "request">;
  readonly clock: Clock;
  readonly path: string;
  readonly verb: string;
  readonly limits?: AccessReviewLimits;
}

export interface AccessReviewLimits {
  /** Answers remembered, of each kind. */
  readonly remembered: number;
  /** Tokens being reviewed at the same time. */
  readonly inFlight: number;
}

const LIMITS: AccessReviewLimits = { remembered: 1_024, inFlight: 32 };
const TOKEN_MS = 60_000;
const ALLOWED_MS = 300_000;
const DENIED_MS = 30_000;
const CALL_TIMEOUT_MS = 10_000;

/** As the API server names it; handed back to it as it came. */
interface User {
  readonly user: string;
  readonly uid: unknown;
  readonly groups: unknown;
  readonly extra: unknown;
}

/** Asks the API server about tokens, and remembers its answers for a while. */
export function createAccessReview(options: AccessReviewOptions): AccessReview {
  const { client, clock, limits = LIMITS } = options;
  const users = new ExpiringCache<User>(clock, limits.remembered);
  // Apart from the others: whoever tries tokens at random must not push out those that are good.
  const strangers = new ExpiringCache<true>(clock, limits.remembered);
  const verdicts = new ExpiringCache<AccessVerdict>(clock, limits.remembered);
  const inFlight = new Map<string, Promise<AccessVerdict>>();

  const identify = async (digest: string, token: string, signal: AbortSignal): Promise<User | undefined> => {
    const known = users.get(digest);
    if (known !== undefined || strangers.get(digest)) return known;
    const user = await reviewToken(client, token, signal);
    if (user === undefined) strangers.set(digest, true, TOKEN_MS);
    else users.set(digest, user, TOKEN_MS);
    return user;
  };
  const judge = async (digest: string, token: string, signal: AbortSignal): Promise<AccessVerdict> => {
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
        return Promise.reject(new Error(`${limits.inFlight} tokens are being reviewed already`));
      const verdict = judge(digest, token, signal).finally(() => inFlight.delete(digest));
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
    throw new DecodeError("a TokenReview says that the token is good, but not whose it is");
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

/** The status of the answered review. */
async function post(
  client: AccessReviewOptions["client"],
  path: string,
  body: object,
  signal: AbortSignal,
): Promise<Fields> {
  const answer = await client.request({ method: "POST", path, body, signal, timeoutMs: CALL_TIMEOUT_MS });
  const status = isFields(answer) ? answer["status"] : undefined;
  if (!isFields(status)) throw new DecodeError(`POST ${path}: an answer without a status`);
  return status;
}
