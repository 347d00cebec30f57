// One HTTP exchange of the webhook server: the right path, method and content type, a body within limits, a place in line, a
// deadline, one answer. Everything that is not a well-formed question gets an HTTP status and no verdict.
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { Clock } from "../kube/clock.ts";
import type { Logger } from "../kube/logger.ts";
import type { AdmissionMetrics } from "./admission-metrics.ts";
import { answerReview, DeadlineError } from "./answer-review.ts";
import type { Gate } from "./gate.ts";
import type { Hook } from "./hooks.ts";
import type { Judge } from "./judge.ts";
import { BodyTooLargeError, readBody, SenderGoneError } from "./request-body.ts";

/** What HTTP/1.1 and HTTP/2 requests have in common. */
export interface IncomingExchange extends Readable {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

export interface ExchangeAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The rest of the request is not going to be read. */
  readonly hangUp?: true;
}

export interface Route {
  readonly hook: Hook;
  readonly judge: Judge;
}

export interface ExchangeOptions {
  readonly routes: ReadonlyMap<string, Route>;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: AdmissionMetrics;
}

/** Manifests with large templates fit; the API server itself takes no more. */
export const BODY_LIMIT_BYTES = 3 * 1024 * 1024;
/** Less than the ten seconds that the API server waits. */
export const DEADLINE_MS = 8_000;
const SHORTEST_DEADLINE_MS = 100;

/** Undefined when nobody is there to be answered any more. */
export async function answerExchange(
  request: IncomingExchange,
  options: ExchangeOptions,
): Promise<ExchangeAnswer | undefined> {
  const url = URL.parse(request.url ?? "", "https://localhost");
  const route = url === null ? undefined : options.routes.get(url.pathname);
  if (url === null || route === undefined) return problem(404, "not found");
  const { clock, metrics } = options;
  const startedMs = clock.monotonicMs();
  metrics.started(route.hook.path);
  let answer: ExchangeAnswer | undefined;
  try {
    answer = refusedOutright(request) ?? (await judged(request, route, deadlineOf(url), options));
    return answer;
  } finally {
    metrics.finished(route.hook.path, answer?.status ?? 0, clock.monotonicMs() - startedMs);
  }
}

/** What can be said without reading the body. */
function refusedOutright({ method, headers }: IncomingExchange): ExchangeAnswer | undefined {
  if (method !== "POST") return { ...problem(405, "only POST"), headers: { allow: "POST" } };
  if (!/^application\/json\s*(;|$)/i.test(headers["content-type"] ?? ""))
    return problem(415, "the content type must be application/json");
  if (!["", "identity"].includes(headers["content-encoding"] ?? ""))
    return problem(415, "compressed bodies are not accepted");
  if (Number(headers["content-length"] ?? 0) > BODY_LIMIT_BYTES) return tooLarge();
  return undefined;
}

async function judged(
  request: IncomingExchange,
  route: Route,
  deadlineMs: number,
  { gate, clock, logger }: ExchangeOptions,
): Promise<ExchangeAnswer | undefined> {
  const ending = new AbortController();
  const cancel = clock.after(deadlineMs, () => ending.abort(new DeadlineError(`no answer within ${deadlineMs} ms`)));
  const onClose = (): void => ending.abort(new SenderGoneError("nobody waits for the answer any more"));
  request.once("error", onClose);
  let leave: (() => void) | undefined;
  try {
    const entered = await gate.enter(expectedBytes(request.headers), ending.signal);
    if (entered === "full") return { ...problem(503, "too many requests at once"), headers: { "retry-after": "1" } };
    leave = entered;
    const text = await readBody(request, BODY_LIMIT_BYTES, ending.signal);
    const { status, body, type } = await answerReview(text, { ...route, logger, signal: ending.signal });
    return type === "problem"
      ? { status, body, headers: { "content-type": "text/plain; charset=utf-8" } }
      : { status, body, headers: { "content-type": "application/json" } };
  } catch (error) {
    if (error instanceof SenderGoneError) return undefined;
    if (error instanceof BodyTooLargeError) return tooLarge();
    // Still outside the gate, or still reading.
    if (error instanceof DeadlineError) return problem(leave === undefined ? 503 : 408, error.message);
    logger.error("answering an admission request failed", error, { webhook: route.hook.name });
    return problem(500, "internal error");
  } finally {
    cancel();
    request.off("error", onClose);
    leave?.();
  }
}

/** Unknown lengths count as the largest. */
function expectedBytes({ "content-length": length }: IncomingHttpHeaders): number {
  const bytes = Number(length);
  return length === undefined || !Number.isFinite(bytes) ? BODY_LIMIT_BYTES : bytes;
}

/** The API server says how long it waits (`?timeout=10s`); an answer must come sooner. */
function deadlineOf(url: URL): number {
  const seconds = /^([0-9]+(?:\.[0-9]+)?)s$/.exec(url.searchParams.get("timeout") ?? "")?.[1];
  if (seconds === undefined) return DEADLINE_MS;
  return Math.max(SHORTEST_DEADLINE_MS, Math.min(DEADLINE_MS, Number(seconds) * 1000 * 0.9));
}

const problem = (status: number, body: string): ExchangeAnswer => ({
  status,
  body: `${body}\n`,
  headers: { "content-type": "text/plain; charset=utf-8" },
  hangUp: true,
});
const tooLarge = (): ExchangeAnswer => problem(413, `the body is larger than ${BODY_LIMIT_BYTES} bytes`);
