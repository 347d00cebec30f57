// One GET turned into one answer, whatever the transport: method, target, and a failure of the answering function are dealt with
// here. Reads no bodies.
import type { IncomingHttpHeaders } from "node:http";
import type { Logger } from "../core/logger.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What HTTP/1.1 and HTTP/2 requests have in common. */
export interface HttpQuestion {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

export type AnswerGet = (url: URL, headers: IncomingHttpHeaders) => Promise<HttpAnswer>;

/** Never rejects. */
export async function answerQuestion(
  { method, url: target, headers }: HttpQuestion,
  answer: AnswerGet,
  logger: Logger,
): Promise<HttpAnswer> {
  if (method !== "GET" && method !== "HEAD")
    return { status: 405, body: "only GET\n", headers: { ...NO_STORE, allow: "GET, HEAD" } };
  const url = URL.parse(target ?? "/", "http://localhost");
  if (url === null) return { status: 400, body: "bad request target\n", headers: NO_STORE };
  try {
    const given = await answer(url, headers);
    return { ...given, headers: { ...NO_STORE, ...given.headers } };
  } catch (error) {
    logger.error("answering a request failed", error, { path: url.pathname });
    return { status: 500, body: "internal error\n", headers: NO_STORE };
  }
}

const NO_STORE = { "cache-control": "no-store" } as const;
