// Steady traffic through a gateway: a constant number of queries per second regardless of the responses, some short and
// some long, half of them on new connections and half on persistent ones. Every result is checked. Never retries.
import { Agent, type ClientRequest, request } from "node:http";
import { type Failure, type LoadFigures, LoadTally, type QueryType } from "./load-tally.ts";

/** A query whose result is known. */
export interface KnownQuery {
  readonly sql: string;
  /** First value of the first row. */
  readonly value: string | number;
  /** How long it must take at least. */
  readonly takesMs: number;
}

export interface LoadOptions {
  /** `http://host:port` */
  readonly gateway: string;
  readonly engine: string;
  /** Short queries per second. */
  readonly perSecond: number;
  /** Time between two long queries; 0 sends none. */
  readonly longEveryMs: number;
  /** Short queries in all; without it they go on until the load is stopped. */
  readonly limit?: number;
  readonly short?: (number: number) => KnownQuery;
  readonly long?: (number: number) => KnownQuery;
}

export interface Load {
  readonly tally: LoadTally;
  /** The phase of the test from now on; every failure names its phase. */
  phase(name: string): void;
  /** Sends one more long query, on a connection of its own; returns its label. */
  sendLong(query: KnownQuery): string;
  /** Sends nothing more, waits for what is on its way. */
  stop(): Promise<LoadFigures>;
}

interface Sent {
  readonly type: QueryType;
  readonly id: string;
  readonly connection: "new" | "kept";
  readonly query: KnownQuery;
}

const TICK_MS = 5;
/** Far longer than the gateway retries or holds: a request without a response by then never gets one. */
const PATIENCE_MS = 150_000;
const KEPT_CONNECTIONS = 16;
/** Most of them nearer to five seconds than to twenty: a drain lasts as long as the last of them. */
const LONG_SECONDS = [5, 8, 6, 12, 5, 7, 9, 5, 20, 6, 5, 10, 7, 5, 15, 6];

/** A sum that differs from query to query: the result of another query is detected. */
export const sumQuery = (number: number): KnownQuery => {
  const [left, right] = [number % 9_973, (number * 31) % 7_919];
  return { sql: `SELECT ${left} + ${right}`, value: left + right, takesMs: 0 };
};

export const sleepQuery = (number: number): KnownQuery =>
  sleepFor(1_000 * (LONG_SECONDS[number % LONG_SECONDS.length] ?? 5));

export const sleepFor = (takesMs: number): KnownQuery => ({
  sql: `SELECT sleep(${takesMs})`,
  value: takesMs,
  takesMs,
});

export function startLoad(options: LoadOptions): Load {
  const tally = new LoadTally();
  const startedMs = performance.now();
  const agent = new Agent({ keepAlive: true, maxFreeSockets: KEPT_CONNECTIONS, scheduling: "fifo" });
  const target = new URL(options.gateway);
  const { short = sumQuery, long = sleepQuery, limit = Number.POSITIVE_INFINITY } = options;
  const idle = Promise.withResolvers<void>();
  let phase = "start";
  let stopping = false;
  const numbers = { short: 0, long: 0, extra: 0 };

  const sendNext = (type: QueryType, number: number): void => {
    const connection = number % 2 === 0 ? "new" : "kept";
    const id = `${options.engine}-${type}-${number}`;
    send({ type, id, connection, query: type === "short" ? short(number) : long(number) });
  };
  const send = ({ type, id, connection, query }: Sent): void => {
    const sentIn = phase;
    const sentMs = performance.now();
    tally.send(type, connection);
    const settle = (status: number | undefined, why: string | undefined): void => {
      const durationMs = performance.now() - sentMs;
      const base = { id, engine: options.engine, type, connection, sentIn, failedIn: phase } as const;
      if (why === undefined) tally.succeed({ type, tookMs: durationMs, wantedMs: query.takesMs, sentIn });
      else tally.fail({ ...base, at: new Date().toISOString(), durationMs, status, why } satisfies Failure);
      if (stopping && tally.onTheirWay === 0) idle.resolve();
    };
    const outgoing = request({
      host: target.hostname,
      port: target.port,
      path: `/?query_label=${id}`,
      method: "POST",
      agent: connection === "new" ? false : agent,
      headers: { "Content-Length": query.sql.length, "X-Firebolt-Engine": options.engine },
    });
    exchange(outgoing, query, settle);
  };

  const tick = (): void => {
    const elapsedMs = performance.now() - startedMs;
    const dueShort = Math.min(limit, (elapsedMs * options.perSecond) / 1000);
    while (numbers.short < dueShort) sendNext("short", numbers.short++);
    while (options.longEveryMs > 0 && numbers.long < elapsedMs / options.longEveryMs) sendNext("long", numbers.long++);
  };
  const timer = setInterval(tick, TICK_MS);

  return {
    tally,
    phase: (name) => {
      phase = name;
    },
    sendLong(query) {
      const id = `${options.engine}-extra-${numbers.extra++}`;
      send({ type: "long", id, connection: "new", query });
      return id;
    },
    async stop() {
      clearInterval(timer);
      const sendingMs = performance.now() - startedMs;
      stopping = true;
      if (tally.onTheirWay === 0) idle.resolve();
      await idle.promise;
      agent.destroy();
      return tally.figures(sendingMs);
    },
  };
}

/** Settles exactly once: with the status and what was wrong, undefined for nothing. */
function exchange(
  outgoing: ClientRequest,
  query: KnownQuery,
  settle: (status: number | undefined, why: string | undefined) => void,
): void {
  const startedMs = performance.now();
  let settled = false;
  const once = (status: number | undefined, why: string | undefined): void => {
    if (settled) return;
    settled = true;
    clearTimeout(deadline);
    settle(status, why);
  };
  const deadline = setTimeout(() => {
    once(undefined, `no response after ${PATIENCE_MS} ms`);
    outgoing.destroy();
  }, PATIENCE_MS);
  outgoing.on("error", (error: NodeJS.ErrnoException) => once(undefined, describeError(error, outgoing)));
  outgoing.once("response", (incoming) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.once("error", (error) => once(incoming.statusCode, `the response was cut off: ${error.message}`));
    incoming.once("end", () => {
      const text = Buffer.concat(chunks).toString();
      once(incoming.statusCode, problemOf(incoming.statusCode, text, query, performance.now() - startedMs));
    });
  });
  outgoing.end(query.sql);
}

/** The progress of the exchange shows whether the query may have run. */
function describeError({ code, message }: NodeJS.ErrnoException, { socket }: ClientRequest): string {
  const far = `port ${socket?.localPort}, ${socket?.bytesWritten} bytes sent, ${socket?.bytesRead} received`;
  return `${code ?? ""} ${message} (${far})`;
}

function problemOf(status: number | undefined, text: string, query: KnownQuery, tookMs: number): string | undefined {
  const excerpt = text.slice(0, 200).trim();
  if (status !== 200) return excerpt;
  const value = firstValue(text);
  if (String(value) !== String(query.value)) return `${query.sql} should be ${query.value}, got ${excerpt}`;
  // Timers may fire a millisecond early.
  if (tookMs < query.takesMs - 5) return `${query.sql} took only ${Math.round(tookMs)} ms`;
  return undefined;
}

/** First value of the first row; undefined when the body is not such a result. */
export function firstValue(text: string): unknown {
  if (!text.startsWith("{")) return undefined;
  const document: unknown = JSON.parse(text);
  const data = typeof document === "object" && document !== null && "data" in document ? document.data : undefined;
  return Array.isArray(data) && Array.isArray(data[0]) ? data[0][0] : undefined;
}
