// One HTTP exchange of the webhook server: checks path, method and content type, reads the body within limits, waits
// for a slot, and responds before the deadline. A malformed request gets an HTTP status and no verdict.
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { Clock, Logger } from "@firebolt-operator/kube";
import type { Hook } from "../registration/hooks.ts";
import { DeadlineError, respondToReview } from "../review/respond-to-review.ts";
import type { Validator } from "../validators/validator.ts";
import type { AdmissionMetrics } from "./admission-metrics.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { ConcurrencyLimiter, Connection } from "./concurrency-limiter.ts";
import { BodyTimeoutError, BodyTooLargeError, readBody, SenderGoneError } from "./request-body.ts";

/** What HTTP/1.1 and HTTP/2 requests have in common. */
export interface IncomingExchange extends Readable {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** The connection: of HTTP/1.1, and by its session of HTTP/2. */
  readonly socket?: object;
  readonly stream?: { readonly session?: object | undefined };
}

export interface ExchangeResponse {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Close the connection: the rest of the request is not read. */
  readonly hangUp?: true;
}

export interface Route {
  readonly hook: Hook;
  readonly validator: Validator;
}

export interface ExchangeOptions {
  readonly routes: ReadonlyMap<string, Route>;
  readonly limiter: ConcurrencyLimiter;
  readonly budget: BodyBudget;
  /** Connections that have had a response to a review. */
  readonly known: WeakSet<object>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: AdmissionMetrics;
}

/** Manifests with large templates fit; the API server itself accepts no more. */
export const BODY_LIMIT_BYTES = 3 * 1024 * 1024;
/** The API server sends a body at once; the allowance is for a slow one. */
export const BODY_TIMEOUT_MS = 2_000;
/** Less than the ten seconds that the API server waits. */
export const DEADLINE_MS = 8_000;
const SHORTEST_DEADLINE_MS = 100;

/** Undefined when the client closed the connection. */
export async function handleExchange(
  request: IncomingExchange,
  options: ExchangeOptions,
): Promise<ExchangeResponse | undefined> {
  const url = URL.parse(request.url ?? "", "https://localhost");
  const route = url === null ? undefined : options.routes.get(url.pathname);
  if (url === null || route === undefined) return problem(404, "not found");
  const { clock, metrics } = options;
  const startedMs = clock.monotonicMs();
  metrics.started(route.hook.path);
  let response: ExchangeResponse | undefined;
  try {
    response = rejectedEarly(request) ?? (await readAndReview(request, route, deadlineOf(url), options));
    return response;
  } finally {
    metrics.finished(route.hook.path, response?.status ?? 0, clock.monotonicMs() - startedMs);
  }
}

/** Checks that need no body. */
function rejectedEarly({ method, headers }: IncomingExchange): ExchangeResponse | undefined {
  if (method !== "POST") return { ...problem(405, "only POST"), headers: { allow: "POST" } };
  if (!/^application\/json\s*(;|$)/i.test(headers["content-type"] ?? ""))
    return problem(415, "the content type must be application/json");
  if (!["", "identity"].includes(headers["content-encoding"] ?? ""))
    return problem(415, "compressed bodies are not accepted");
  if (Number(headers["content-length"] ?? 0) > BODY_LIMIT_BYTES) return tooLarge();
  return undefined;
}

async function readAndReview(
  request: IncomingExchange,
  route: Route,
  deadlineMs: number,
  { limiter, budget, known, clock, logger }: ExchangeOptions,
): Promise<ExchangeResponse | undefined> {
  const ending = new AbortController();
  const { signal } = ending;
  const cancel = clock.after(deadlineMs, () => ending.abort(new DeadlineError(`no verdict within ${deadlineMs} ms`)));
  const onClose = (): void => ending.abort(new SenderGoneError("the client closed the connection"));
  request.once("error", onClose);
  const socket = request.stream?.session ?? request.socket ?? request;
  const connection: Connection = known.has(socket) ? "known" : "unknown";
  const share = budget.open(connection);
  let release: (() => void) | undefined;
  let complete = false;
  try {
    const text = await readBody(request, {
      limitBytes: BODY_LIMIT_BYTES,
      announcedBytes: announcedBytes(request.headers),
      timeoutMs: BODY_TIMEOUT_MS,
      clock,
      share,
      signal,
    });
    complete = true;
    const slot = await limiter.acquire(connection, signal);
    if (slot === "full") return { ...problem(503, "too many concurrent requests"), headers: { "retry-after": "1" } };
    release = slot;
    const { status, body, type } = await respondToReview(text, { ...route, logger, signal });
    if (type === "review") known.add(socket);
    return type === "problem"
      ? { status, body, headers: { "content-type": "text/plain; charset=utf-8" } }
      : { status, body, headers: { "content-type": "application/json" } };
  } catch (error) {
    if (error instanceof SenderGoneError) return undefined;
    if (error instanceof BodyTooLargeError) return tooLarge();
    if (error instanceof BodyTimeoutError) return problem(408, error.message);
    // While the body was read, or while it waited for a slot.
    if (error instanceof DeadlineError) return problem(complete ? 503 : 408, error.message);
    logger.error("handling an admission request failed", error, { webhook: route.hook.name });
    return problem(500, "internal error");
  } finally {
    cancel();
    request.off("error", onClose);
    release?.();
    share.release();
  }
}

function announcedBytes({ "content-length": length }: IncomingHttpHeaders): number | undefined {
  const bytes = Number(length);
  return length === undefined || !Number.isFinite(bytes) ? undefined : bytes;
}

/** The API server sends its own timeout (`?timeout=10s`); the response must come sooner. */
function deadlineOf(url: URL): number {
  const seconds = /^([0-9]+(?:\.[0-9]+)?)s$/.exec(url.searchParams.get("timeout") ?? "")?.[1];
  if (seconds === undefined) return DEADLINE_MS;
  return Math.max(SHORTEST_DEADLINE_MS, Math.min(DEADLINE_MS, Number(seconds) * 1000 * 0.9));
}

const problem = (status: number, body: string): ExchangeResponse => ({
  status,
  body: `${body}\n`,
  headers: { "content-type": "text/plain; charset=utf-8" },
  hangUp: true,
});
const tooLarge = (): ExchangeResponse => problem(413, `the body is larger than ${BODY_LIMIT_BYTES} bytes`);
