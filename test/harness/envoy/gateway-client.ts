// A client of a gateway that opens one connection per query, as most do, and counts what it sent and what failed.
import { once } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";

/** Ends what hangs: longer than any agent holds a query. */
const DEADLINE_MS = 150_000;

export interface QueryOptions {
  /** Sent as the X-Firebolt-Engine header. */
  readonly engine?: string | undefined;
  readonly sql?: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly deadlineMs?: number;
  /** The client leaves when it fires. */
  readonly signal?: AbortSignal;
  /** Another gateway than the client's own. */
  readonly port?: number;
}

export interface QueryAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** First value of the first row; undefined when the response contains no rows. */
  readonly value: unknown;
}

export class GatewayClient {
  /** Requests sent so far, and those of them that did not get a 200. */
  sent = 0;
  failed = 0;
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  /** Every status is a response; only a broken connection or a missed deadline fails. */
  async send(options: QueryOptions): Promise<QueryAnswer> {
    const { engine, sql = "SELECT 42", path = "/", method = "POST", deadlineMs = DEADLINE_MS } = options;
    const deadline = AbortSignal.timeout(deadlineMs);
    const outgoing = request({
      host: "127.0.0.1",
      port: options.port ?? this.#port,
      path,
      method,
      agent: false,
      headers: {
        "Content-Type": "text/plain",
        "Content-Length": Buffer.byteLength(sql),
        ...(engine === undefined ? {} : { "X-Firebolt-Engine": engine }),
        ...options.headers,
      },
      signal: options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]),
    });
    outgoing.end(sql);
    const [incoming] = await once(outgoing, "response");
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    return { status: incoming.statusCode, headers: incoming.headers, text, value: firstValue(text) };
  }

  /** A query that must succeed: it is counted, and fails when the response is not a 200. */
  async query(options: QueryOptions): Promise<QueryAnswer> {
    this.sent++;
    try {
      const answer = await this.send(options);
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text.slice(0, 200)}`);
      return answer;
    } catch (error) {
      this.failed++;
      throw error;
    }
  }
}

function firstValue(text: string): unknown {
  if (!text.startsWith("{")) return undefined;
  const document: unknown = JSON.parse(text);
  if (typeof document !== "object" || document === null || !("data" in document)) return undefined;
  const { data } = document;
  return Array.isArray(data) && Array.isArray(data[0]) ? data[0][0] : undefined;
}
