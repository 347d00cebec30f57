// One query through a gateway, as any HTTP client sends it, with its response and duration. Never retries: callers must
// see a failed query.
import { type Agent, request } from "node:http";

/** The gateway finds the engine by this header. */
export const ENGINE_HEADER = "X-Firebolt-Engine";
const DEADLINE_MS = 150_000;

export interface Query {
  /** `http://host:port` */
  readonly gateway: string;
  readonly engine: string;
  readonly sql: string;
  /** Shown by the gateway's access log and by the engine. */
  readonly label?: string;
  /** Default: a connection of its own. */
  readonly agent?: Agent;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface QueryAnswer {
  readonly status: number;
  readonly body: string;
  readonly durationMs: number;
}

/** Every HTTP status is a response; only a broken or missing connection is an error. */
export function query(options: Query): Promise<QueryAnswer> {
  const { gateway, engine, sql, label, agent, timeoutMs = DEADLINE_MS, signal } = options;
  const startedMs = performance.now();
  const deadline = AbortSignal.timeout(timeoutMs);
  const { promise, resolve, reject } = Promise.withResolvers<QueryAnswer>();
  const call = request(
    new URL(label === undefined ? "/" : `/?query_label=${encodeURIComponent(label)}`, gateway),
    {
      method: "POST",
      agent: agent ?? false,
      headers: { [ENGINE_HEADER]: engine, "content-type": "text/plain; charset=utf-8" },
      signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
    },
    (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString("utf8"),
          durationMs: performance.now() - startedMs,
        }),
      );
    },
  );
  call.once("error", reject);
  call.end(sql);
  return promise;
}

/** The rows of a successful response; otherwise fails with the message of the gateway or the engine. */
export async function queryRows(options: Query): Promise<readonly (readonly unknown[])[]> {
  const { status, body } = await query(options);
  if (status !== 200) throw new Error(`${options.sql} on ${options.engine} returned ${status}: ${body.trim()}`);
  return parseRows(body);
}

/** Fails on anything but `{"data": [[…], …]}`: a killed query gets a 200 with errors. */
export function parseRows(body: string): readonly (readonly unknown[])[] {
  const answer: unknown = JSON.parse(body);
  const data: unknown = typeof answer === "object" && answer !== null && "data" in answer ? answer.data : undefined;
  if (!isRows(data)) throw new Error(`not a query response: ${body.trim().slice(0, 500)}`);
  return data;
}

const isRows = (value: unknown): value is readonly (readonly unknown[])[] =>
  Array.isArray(value) && value.every((row) => Array.isArray(row));
