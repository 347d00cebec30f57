// The query port: readiness for the gateway, and `POST /` with one statement. The order of the checks is the contract: a
// refusal because of shutdown comes before any work.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";
import type { AcceptedQuery, EngineState } from "./engine-state.ts";
import type { Column, RunSql } from "./sql-engine.ts";
import { StatementError } from "./sql-text.ts";
import { parseStatement, type Statement } from "./statement.ts";

/** Who answers: shown by `whoami()`. */
export interface EngineIdentity {
  readonly pod: string;
  readonly generation: string;
  readonly configHash: string;
}

export interface QueryServerOptions {
  readonly state: EngineState;
  readonly identity: EngineIdentity;
  readonly runSql: RunSql;
  /** Told every marker that ran, once per run. */
  readonly onMarker: (id: string) => void;
  /** Called when a query that takes time begins, and when it ends, however it ends. */
  readonly onWait: (change: "began" | "ended", query: WaitingQuery) => void;
}

export interface WaitingQuery {
  /** The setting `query_label` of the request; empty without one. */
  readonly label: string;
  readonly durationMs: number;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const KNOWN_SETTINGS = ["output_format", "query_label", "database"];
const DRAINED: Answer = {
  status: 503,
  headers: { "X-Firebolt-Drained": "true", Connection: "close" },
  body: { errors: [{ description: "the engine is shutting down" }] },
};

export function createQueryServer(options: QueryServerOptions): Server {
  const server = createServer((request, response) => {
    answer(options, request).then(
      (result) => send(response, result, options.state),
      (error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  });
  server.requestTimeout = 0; // Slow bodies are a client's right.
  return server;
}

async function answer(options: QueryServerOptions, request: IncomingMessage): Promise<Answer> {
  const { state } = options;
  const url = new URL(request.url ?? "/", "http://engine");
  if (request.method === "GET" && url.pathname === ENGINE_CONTRACT.endpoints.ready) {
    return { status: state.ready ? 200 : 503, body: { ready: state.ready } };
  }
  // The body is read even when the query is refused: an answer on top of unread bytes would reset the connection.
  const sql = await readBody(request);
  if (state.fenced) {
    state.lastRefusalMs = performance.now();
    return DRAINED;
  }
  if (request.method !== "POST" || url.pathname !== "/") return failure(404, "no such page");
  const unknown = [...url.searchParams.keys()].find((key) => !KNOWN_SETTINGS.includes(key));
  if (unknown !== undefined) return failure(400, `unknown setting ${unknown}`);
  const result = await run(parseStatement(sql), options, request);
  if (!("rows" in result)) return result;
  const engine = request.headers["x-firebolt-engine"];
  const { host } = request.headers;
  const { columns, rows } = result;
  return { status: 200, body: { meta: columns, data: rows, rows: rows.length, engine, host, bodyBytes: sql.length } };
}

type Result = { readonly columns?: readonly Column[]; readonly rows: readonly (readonly unknown[])[] } | Answer;

async function run(statement: Statement, options: QueryServerOptions, request: IncomingMessage): Promise<Result> {
  const query = options.state.accept(statement.type === "wait" ? statement.kind : "running");
  try {
    switch (statement.type) {
      case "query":
        return options.runSql(statement.sql);
      case "blob":
        return { rows: [["x".repeat(statement.sizeBytes)]] };
      case "fail":
        return failure(500, "the query failed after it began");
      case "marker":
        options.onMarker(statement.id);
        return { rows: [[statement.id]] };
      case "whoami": {
        const { pod, generation, configHash } = options.identity;
        return { rows: [[pod, generation, configHash]] };
      }
      case "wait": {
        const { durationMs } = statement;
        const waiting = { label: labelOf(request), durationMs };
        options.onWait("began", waiting);
        try {
          return await wait(durationMs, { query, state: options.state, request });
        } finally {
          options.onWait("ended", waiting);
        }
      }
    }
  } catch (error) {
    if (error instanceof StatementError) return failure(400, error.message);
    throw error;
  } finally {
    query.done();
  }
}

interface Waiting {
  readonly query: AcceptedQuery;
  readonly state: EngineState;
  readonly request: IncomingMessage;
}

async function wait(durationMs: number, { query, state, request }: Waiting): Promise<Result> {
  const timer = new AbortController();
  const { promise: cut, resolve: onCut } = Promise.withResolvers<void>();
  const { socket } = request;
  socket.once("close", onCut);
  query.killed.addEventListener("abort", () => onCut(), { once: true });
  try {
    const slept = sleep(durationMs, undefined, { signal: timer.signal }).then(() => state.untilReleased());
    await Promise.race([slept, query.finished, cut]);
    // Killed at shutdown: the real engine answers 200 with an error in the body. A client that left hears nothing anyway.
    if (query.killed.aborted) return failure(200, "the query was killed because the engine is shutting down");
    if (socket.destroyed) return failure(499, "the client left");
    return { rows: [[durationMs]] };
  } finally {
    timer.abort();
    socket.off("close", onCut);
  }
}

const labelOf = ({ url = "/" }: IncomingMessage): string =>
  new URL(url, "http://engine").searchParams.get("query_label") ?? "";

function failure(status: number, description: string): Answer {
  return { status, body: { errors: [{ description }] } };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function send(response: ServerResponse, { status, headers, body }: Answer, state: EngineState): void {
  if (state.dropsAnswers && response.req.method === "POST") {
    response.socket?.resetAndDestroy();
    return;
  }
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
