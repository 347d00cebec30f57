// Streams the log of one container, line by line with timestamps.
import { type ClusterConfig, createKubeClient, type LogRequest } from "@firebolt-operator/kube/client";
import { USER_AGENT } from "../cluster/cluster.ts";

export interface LogLine {
  /** RFC 3339 with nanoseconds; empty if the line has none. */
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
  const client = createKubeClient({
    config,
    userAgent: USER_AGENT,
    maxSockets: MAX_SOCKETS,
    maxResponseBytes: MAX_ANSWER_BYTES,
  });
  return {
    async *lines(request, options) {
      const stamped = { ...request, timestamps: true };
      for await (const line of client.podLogs(stamped, { ...options, maxLineBytes: MAX_LINE_BYTES }))
        yield parseLine(line);
    },
    [Symbol.dispose]: () => client.close(),
  };
}

const STAMPED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ?(.*)$/s;

function parseLine(line: string): LogLine {
  const match = STAMPED.exec(line);
  return match === null ? { time: "", text: line } : { time: match[1] ?? "", text: match[2] ?? "" };
}
