// One HTTP exchange of the webhook server: the right path, method and content type, a body within limits, a place in line, a
// deadline, one answer. Everything that is not a well-formed question gets an HTTP status and no verdict.
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { Clock, Logger } from "@firebolt-operator/kube";
import type { AdmissionMetrics } from "./admission-metrics.ts";
import { answerReview, DeadlineError } from "./answer-review.ts";
import type { BodyRoom } from "./body-room.ts";
import type { Gate, Standing } from "./gate.ts";
import type { Hook } from "./hooks.ts";
import type { Judge } from "./judge.ts";
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
  readonly room: BodyRoom;
  /** Connections that have had a response to a review. */
  readonly known: WeakSet<object>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: AdmissionMetrics;
}

/** Manifests with large templates fit; the API server itself takes no more. */
export const BODY_LIMIT_BYTES = 3 * 1024 * 1024;
/** The API server sends a body in one go; it may be a slow one. */
export const BODY_TIMEOUT_MS = 2_000;
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
  { gate, room, known, clock, logger }: ExchangeOptions,
): Promise<ExchangeAnswer | undefined> {
  const ending = new AbortController();
  const { signal } = ending;
  const cancel = clock.after(deadlineMs, () => ending.abort(new DeadlineError(`no answer within ${deadlineMs} ms`)));
  const onClose = (): void => ending.abort(new SenderGoneError("nobody waits for the answer any more"));
  request.once("error", onClose);
  const connection = request.stream?.session ?? request.socket ?? request;
  const standing: Standing = known.has(connection) ? "known" : "stranger";
  const share = room.open(standing);
  let leave: (() => void) | undefined;
  let whole = false;
  try {
    const text = await readBody(request, {
      limitBytes: BODY_LIMIT_BYTES,
      announcedBytes: announcedBytes(request.headers),
      timeoutMs: BODY_TIMEOUT_MS,
      clock,
      share,
      signal,
    });
    whole = true;
    const entered = await gate.enter(standing, signal);
    if (entered === "full") return { ...problem(503, "too many requests at once"), headers: { "retry-after": "1" } };
    leave = entered;
    const { status, body, type } = await answerReview(text, { ...route, logger, signal });
    if (type === "review") known.add(connection);
    return type === "problem"
      ? { status, body, headers: { "content-type": "text/plain; charset=utf-8" } }
      : { status, body, headers: { "content-type": "application/json" } };
  } catch (error) {
    if (error instanceof SenderGoneError) return undefined;
    if (error instanceof BodyTooLargeError) return tooLarge();
    if (error instanceof BodyTimeoutError) return problem(408, error.message);
    // Still reading, or still in line.
    if (error instanceof DeadlineError) return problem(whole ? 503 : 408, error.message);
    logger.error("answering an admission request failed", error, { webhook: route.hook.name });
    return problem(500, "internal error");
  } finally {
    cancel();
    request.off("error", onClose);
    leave?.();
    share.release();
  }
}

function announcedBytes({ "content-length": length }: IncomingHttpHeaders): number | undefined {
  const bytes = Number(length);
  return length === undefined || !Number.isFinite(bytes) ? undefined : bytes;
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
