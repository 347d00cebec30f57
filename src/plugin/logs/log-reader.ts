// The lines of one container's log, as the API server streams them, each with its time. Reads; does not merge, colour or keep.
import type { IncomingMessage } from "node:http";
import { silentLogger, systemClock } from "@firebolt-operator/kube";
import type { ClusterConfig } from "@firebolt-operator/kube/client";
import {
  ClientCalls,
  createCredentials,
  LineSplitter,
  parseServer,
  refusedError,
  requestText,
  Transport,
  TransportAgents,
} from "undefined";
import { USER_AGENT } from "../cluster.ts";

export interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** The last so many lines; undefined means all. */
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  readonly follow?: boolean | undefined;
  readonly previous?: boolean | undefined;
  readonly limitBytes?: number | undefined;
}

export interface LogLine {
  /** RFC 3339 with nanoseconds; empty when the line came without. */
  readonly time: string;
  readonly text: string;
}

export interface LogReader extends Disposable {
  /** Ends with the log, or with the signal when it is followed. */
  lines(
    request: LogRequest,
    options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): AsyncGenerator<LogLine>;
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_SOCKETS = 16;

export function createLogReader(config: ClusterConfig): LogReader {
  const server = parseServer(config);
  const agents = new TransportAgents({ config, server, logger: silentLogger, maxSockets: MAX_SOCKETS });
  const calls = new ClientCalls({
    transport: new Transport(server, agents),
    credentials: createCredentials({ config, clock: systemClock, logger: silentLogger }),
    clock: systemClock,
    host: server.authority,
    userAgent: USER_AGENT,
    impersonate: config.impersonate,
    bucket: undefined,
    guardWrite: undefined,
    onRequest: undefined,
    maxBytes: MAX_ANSWER_BYTES,
    random: Math.random,
  });
  return {
    async *lines(request, options) {
      const call = { method: "GET", path: logPath(request), verb: "get", resource: "pods/log" };
      const opened = await calls.open(call, options);
      if (opened.status !== 200) throw refusedError(requestText(call), opened, systemClock.now());
      yield* readLines(opened.response, options.signal);
    },
    [Symbol.dispose]() {
      calls.close();
      agents.close();
    },
  };
}

async function* readLines(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<LogLine> {
  const lines = new LineSplitter(MAX_LINE_BYTES);
  const stop = (): void => void response.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of response) for (const line of lines.push(chunk)) yield parseLine(String(line));
    const rest = lines.end();
    if (rest !== undefined) yield parseLine(String(rest));
  } catch (error) {
    // Whoever stops listening has heard enough.
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    response.destroy();
  }
}

const STAMPED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ?(.*)$/s;

export function parseLine(line: string): LogLine {
  const match = STAMPED.exec(line);
  return match === null ? { time: "", text: line } : { time: match[1] ?? "", text: match[2] ?? "" };
}

export function logPath({ namespace, pod, ...request }: LogRequest): string {
  const query = new URLSearchParams({ container: request.container, timestamps: "true" });
  if (request.tailLines !== undefined) query.set("tailLines", String(request.tailLines));
  if (request.sinceSeconds !== undefined) query.set("sinceSeconds", String(request.sinceSeconds));
  if (request.limitBytes !== undefined) query.set("limitBytes", String(request.limitBytes));
  if (request.follow) query.set("follow", "true");
  if (request.previous) query.set("previous", "true");
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log?${query}`;
}
