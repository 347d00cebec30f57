// The query port: readiness for the gateway, and `POST /` with one statement. The order of the checks is the contract: a
// refusal because of shutdown comes before any work.

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";
import type { AcceptedQuery, EngineState } from "./engine-state.ts";
import { readParameters } from "./query-parameters.ts";
import {
  DEFAULT_FORMAT,
  formatResult,
  isOutputFormat,
  JSON_TYPE,
  OUTPUT_FORMATS,
  type QueryResult,
  type ResultBody,
} from "./result-formats.ts";
import type { RunSql, SqlParameters } from "./sql-engine.ts";
import { StatementError } from "./sql-text.ts";
import { parseStatement, type Statement } from "./statement.ts";

/** The identity that `whoami()` returns. */
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
  /** A document, or the text of a result. */
  readonly body: object | ResultBody;
}

/** Results are never cached here, so the last one changes nothing. */
const KNOWN_SETTINGS = ["output_format", "query_label", "database", "query_parameters", "enable_result_cache"];
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
  // The body is read even when the query is rejected: a response before the end of the body would reset the connection.
  const sql = await readBody(request);
  if (state.fenced) {
    state.lastRefusalMs = performance.now();
    return DRAINED;
  }
  if (request.method !== "POST" || url.pathname !== "/") return failure(404, "not found");
  const unknown = [...url.searchParams.keys()].find((key) => !KNOWN_SETTINGS.includes(key));
  if (unknown !== undefined) return failure(400, `unknown setting ${unknown}`);
  const format = url.searchParams.get("output_format") ?? DEFAULT_FORMAT;
  if (!isOutputFormat(format))
    return failure(400, `unknown output_format ${format}: this engine writes ${OUTPUT_FORMATS.join(", ")}`);
  const parameters = readParameters(url.searchParams.get("query_parameters"));
  if (parameters === undefined) return failure(400, "query_parameters must be a JSON list of names and values");
  const beganMs = performance.now();
  const result = await run({ statement: parseStatement(sql), parameters }, options, request);
  if (!("rows" in result)) return result;
  const query = { query_id: randomUUID(), query_label: labelOf(request), request_id: requestIdOf(request) };
  const elapsedSeconds = (performance.now() - beganMs) / 1_000;
  const { host, "x-firebolt-engine": engine } = request.headers;
  const shown = { engine, host, bodyBytes: sql.length };
  return { status: 200, body: formatResult(format, { ...result, query, elapsedSeconds, request: shown }) };
}

type Result = QueryResult | Answer;

interface Asked {
  readonly statement: Statement;
  readonly parameters: SqlParameters;
}

const texts = (values: Readonly<Record<string, string>>): QueryResult => ({
  columns: Object.keys(values).map((name) => ({ name, type: "text" })),
  rows: [Object.values(values)],
});

async function run(
  { statement, parameters }: Asked,
  options: QueryServerOptions,
  request: IncomingMessage,
): Promise<Result> {
  const query = options.state.accept(statement.type === "wait" ? statement.kind : "running");
  try {
    switch (statement.type) {
      case "query":
        return options.runSql(statement.sql, parameters);
      case "blob":
        return texts({ blob: "x".repeat(statement.sizeBytes) });
      case "fail":
        return failure(500, "the query failed after it began");
      case "marker":
        options.onMarker(statement.id);
        return texts({ marker: statement.id });
      case "whoami": {
        const { pod, generation, configHash } = options.identity;
        return texts({ pod, generation, configHash });
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
    // Killed at shutdown: the real engine responds with 200 and an error in the body. A client that has disconnected
    // gets nothing.
    if (query.killed.aborted) return failure(200, "the query was killed because the engine is shutting down");
    if (socket.destroyed) return failure(499, "the client disconnected");
    return { columns: [{ name: "durationMs", type: "long" }], rows: [[durationMs]] };
  } finally {
    timer.abort();
    socket.off("close", onCut);
  }
}

const labelOf = ({ url = "/" }: IncomingMessage): string =>
  new URL(url, "http://engine").searchParams.get("query_label") ?? "";

/** The gateway's, so that its access log leads to the query. */
const requestIdOf = ({ headers }: IncomingMessage): string => String(headers["x-request-id"] ?? "");

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
  const { contentType, text } = "text" in body ? body : { contentType: JSON_TYPE, text: JSON.stringify(body) };
  response.writeHead(status, { "Content-Type": contentType, ...headers });
  response.end(text);
}
