// One API call: credentials, rate limit, fencing, the exchange, and retries (429, 503 and 504 with Retry-After, a 401
// after credentials rotated) within one deadline. Knows no resources and decodes no objects.
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Impersonation } from "../config/cluster-config.ts";
import type { Credentials, Identity } from "../config/credentials.ts";
import type { Clock } from "../core/clock.ts";
import { KubeConnectionError } from "../core/errors.ts";
import { type ApiResponse, parseStatus } from "./api-response.ts";
import { CallDeadline } from "./call-deadline.ts";
import type { CallOptions } from "./client.ts";
import { retryDelayMs } from "./retry-after.ts";
import type { TokenBucket } from "./token-bucket.ts";
import { readBody, type Transport } from "./transport/transport.ts";

/** One completed exchange, for metrics. */
export interface RequestInfo {
  readonly method: string;
  /** The status code, or `<error>` if there was no response. */
  readonly code: string;
  readonly host: string;
  readonly verb: string;
  readonly resource: string;
  readonly durationMs: number;
}

export interface Call {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly verb: string;
  readonly resource: string;
  /** Encoded once, even if it is sent several times. */
  readonly body?: string;
  readonly contentType?: string;
  /** Default `application/json`. */
  readonly accept?: string;
  /** Changes the cluster, so it must be fenced. */
  readonly write?: boolean;
  /** The response may come from a pod: only an API Status is from the API server itself. */
  readonly proxied?: boolean;
  readonly maxBytes?: number;
  /** Limit of each attempt: for its connection, and again from there to the response headers. */
  readonly firstByteMs?: number;
}

export interface CallsOptions {
  readonly transport: Transport;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly host: string;
  readonly userAgent: string;
  readonly impersonate: Impersonation | undefined;
  readonly bucket: TokenBucket | undefined;
  readonly guardWrite: (() => void) | undefined;
  readonly onRequest: ((info: RequestInfo) => void) | undefined;
  readonly maxBytes: number;
  readonly random: () => number;
}

export interface OpenOptions extends CallOptions {
  /** For each exchange: from requesting a connection to the response headers. Default: the rest of the call. */
  readonly headersTimeoutMs?: number;
}

type StreamLimits = Required<Pick<OpenOptions, "headersTimeoutMs">>;
type Opened = ApiResponse & { readonly response: IncomingMessage };

const DEFAULT_TIMEOUT_MS = 30_000;
const JSON_TYPE = "application/json";

/** `GET /api/v1/pods`: how errors name a call. Without the query, which only makes it longer. */
export const describeCall = (call: Call): string => `${call.method} ${call.path.split("?", 1)[0]}`;

export class ClientCalls {
  readonly #options: CallsOptions;
  /** Header objects by content type and accepted type, for as long as the identity does not change. */
  readonly #headers = new Map<string, OutgoingHttpHeaders>();
  #headersOf: string | undefined;
  #closed = false;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** The whole response, success or not. */
  async send(call: Call, options: CallOptions): Promise<ApiResponse> {
    const deadline = this.#deadline(call, options);
    try {
      return await this.#perform(call, deadline);
    } finally {
      deadline.close();
    }
  }

  /** The open response of a stream; an error response is read whole. The deadline covers only the opening. */
  async open(call: Call, options: OpenOptions): Promise<Opened> {
    const deadline = this.#deadline(call, options);
    try {
      return await this.#perform(call, deadline, {
        headersTimeoutMs: options.headersTimeoutMs ?? deadline.remainingMs,
      });
    } finally {
      deadline.close();
    }
  }

  close(): void {
    this.#closed = true;
  }

  #deadline(call: Call, options: CallOptions): CallDeadline {
    if (this.#closed) throw new KubeConnectionError(`${describeCall(call)}: the client is closed`);
    return new CallDeadline({
      clock: this.#options.clock,
      timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      signal: options.signal,
      request: describeCall(call),
    });
  }

  async #perform(call: Call, deadline: CallDeadline, stream?: StreamLimits): Promise<Opened> {
    let identity = await this.#identity(deadline);
    let renewed = false;
    for (let retries = 0; ; ) {
      const waitMs = this.#options.bucket?.reserve() ?? 0;
      if (waitMs > 0) await deadline.sleep(waitMs);
      const result = await this.#exchange({ call, identity, stream }, deadline);
      if (result.status < 400) return result;
      const body = parseStatus(result.body);
      if (call.proxied && body === undefined) return result;
      if (result.status === 401 && !renewed) {
        renewed = true;
        const next = await deadline.race(this.#options.credentials.afterUnauthorized(identity));
        if (next === undefined) return result;
        identity = next;
        continue;
      }
      const { clock, random } = this.#options;
      const delayMs = retryDelayMs({ ...result, body, retries }, clock.now(), random);
      // A wait past the deadline cannot succeed: return the response now.
      if (delayMs === undefined || delayMs >= deadline.remainingMs) return result;
      retries += 1;
      await deadline.sleep(delayMs);
      identity = await this.#identity(deadline);
    }
  }

  async #identity(deadline: CallDeadline): Promise<Identity> {
    deadline.check();
    const identity = this.#options.credentials.current();
    return identity instanceof Promise ? deadline.race(identity) : identity;
  }

  async #exchange(
    attempt: { readonly call: Call; readonly identity: Identity; readonly stream: StreamLimits | undefined },
    callDeadline: CallDeadline,
  ): Promise<Opened> {
    const { call, identity, stream } = attempt;
    const { clock, transport, guardWrite } = this.#options;
    const startedMs = clock.monotonicMs();
    // Waiting for credentials, for the rate limit or for Retry-After must not count as silence of the connection.
    const deadline = stream === undefined ? callDeadline : callDeadline.step(stream.headersTimeoutMs);
    let code = "<error>";
    try {
      const response = await transport.send(
        {
          method: call.method,
          path: call.path,
          headers: this.#headersFor(identity, call),
          body: call.body,
          pool: stream === undefined ? "calls" : "watches",
          beforeSend: call.write ? guardWrite : undefined,
          firstByteMs: call.firstByteMs,
        },
        identity.tls,
        deadline,
      );
      const status = response.statusCode ?? 0;
      const retryAfter = response.headers["retry-after"];
      code = String(status);
      if (stream !== undefined && status === 200) return { status, retryAfter, body: "", response };
      const maxBytes = call.maxBytes ?? this.#options.maxBytes;
      const body = await readBody(response, { deadline, maxBytes, request: describeCall(call) });
      return { status, retryAfter, body, response };
    } finally {
      if (deadline !== callDeadline) deadline.close();
      this.#report(call, code, clock.monotonicMs() - startedMs);
    }
  }

  #report(call: Call, code: string, durationMs: number): void {
    const { onRequest, host } = this.#options;
    onRequest?.({ method: call.method, code, host, verb: call.verb, resource: call.resource, durationMs });
  }

  #headersFor(identity: Identity, { contentType = "", accept = JSON_TYPE }: Call): OutgoingHttpHeaders {
    const key = `${contentType} ${accept}`;
    if (this.#headersOf !== identity.authorization) {
      this.#headersOf = identity.authorization;
      this.#headers.clear();
    }
    let headers = this.#headers.get(key);
    if (headers === undefined) {
      headers = {
        accept,
        "user-agent": this.#options.userAgent,
        ...(identity.authorization !== undefined && { authorization: identity.authorization }),
        ...(contentType !== "" && { "content-type": contentType }),
        ...impersonationHeaders(this.#options.impersonate),
      };
      this.#headers.set(key, headers);
    }
    return headers;
  }
}

function impersonationHeaders(impersonate: Impersonation | undefined): OutgoingHttpHeaders {
  if (impersonate === undefined) return {};
  const extra = Object.entries(impersonate.extra).map(([name, values]) => [
    `impersonate-extra-${encodeURIComponent(name)}`,
    [...values],
  ]);
  return {
    "impersonate-user": impersonate.user,
    ...(impersonate.uid !== undefined && { "impersonate-uid": impersonate.uid }),
    ...(impersonate.groups.length > 0 && { "impersonate-group": [...impersonate.groups] }),
    ...Object.fromEntries(extra),
  };
}
