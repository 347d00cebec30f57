// Handles one GET request independently of the transport: method, target, and failures of the handler. Reads no bodies.
import type { IncomingHttpHeaders } from "node:http";
import type { Logger } from "../core/logger.ts";

export interface HttpResponse {
  readonly status: number;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What HTTP/1.1 and HTTP/2 requests have in common. */
export interface HttpRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

export type GetHandler = (url: URL, headers: IncomingHttpHeaders) => Promise<HttpResponse>;

/** Never rejects. */
export async function handleGet(
  { method, url: target, headers }: HttpRequest,
  respond: GetHandler,
  logger: Logger,
): Promise<HttpResponse> {
  if (method !== "GET" && method !== "HEAD")
    return { status: 405, body: "only GET\n", headers: { ...NO_STORE, allow: "GET, HEAD" } };
  const url = URL.parse(target ?? "/", "http://localhost");
  if (url === null) return { status: 400, body: "bad request target\n", headers: NO_STORE };
  try {
    const given = await respond(url, headers);
    return { ...given, headers: { ...NO_STORE, ...given.headers } };
  } catch (error) {
    logger.error("request handler failed", error, { path: url.pathname });
    return { status: 500, body: "internal error\n", headers: NO_STORE };
  }
}

const NO_STORE = { "cache-control": "no-store" } as const;
