// The format of log lines: one JSON object per line on stderr with the keys of controller-runtime, or console lines.
// Repeated messages are sampled so that a failing loop cannot flood the log.
import type { LogFields, Logger } from "@firebolt-operator/kube";
import pino from "pino";

export type TimeEncoding = "epoch" | "millis" | "nano" | "iso8601" | "rfc3339" | "rfc3339nano";

export interface LoggingOptions {
  readonly encoder: "json" | "console";
  readonly level: "debug" | "info" | "error";
  readonly timeEncoding: TimeEncoding;
  /** Print the stacks of errors. */
  readonly stacks: boolean;
  /** Sample repeated messages: the first 100 of a second, then every 100th. */
  readonly sampled: boolean;
  readonly write: (line: string) => void;
  readonly now: () => number;
}

const SAMPLE_FIRST = 100;
const SAMPLE_EVERY = 100;

export function createLogger(options: LoggingOptions): Logger {
  const sink = pino(
    {
      level: options.level,
      base: null,
      messageKey: "msg",
      timestamp: () => `,"ts":${encodeTime(options.now(), options.timeEncoding)}`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: options.encoder === "json" ? options.write : (line) => options.write(consoleLine(line)) },
  );
  const admit = options.sampled ? createSampler(options.now) : () => true;
  const errorFields = (error: unknown): LogFields => {
    if (error === undefined) return {};
    const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
    return options.stacks && stack !== undefined
      ? { error: withCauses(error, message), stacktrace: stack }
      : { error: withCauses(error, message) };
  };
  const wrap = (line: pino.Logger): Logger => ({
    debug: (message, fields) => {
      if (options.level === "debug" && admit(message)) line.debug(fields ?? {}, message);
    },
    info: (message, fields) => {
      if (admit(message)) line.info(fields ?? {}, message);
    },
    error: (message, error, fields) => {
      if (admit(message)) line.error({ ...fields, ...errorFields(error) }, message);
    },
    with: (fields) => wrap(line.child(fields)),
  });
  return wrap(sink);
}

/** The message with those of its causes: what was being done, then why it failed. */
function withCauses(error: unknown, message: string): string {
  const parts = [message];
  for (
    let cause = error instanceof Error ? error.cause : undefined;
    cause instanceof Error && parts.length < 5;
    cause = cause.cause
  ) {
    if (!parts.some((part) => part.includes((cause as Error).message))) parts.push(cause.message);
  }
  return parts.join(": ");
}

function encodeTime(nowMs: number, encoding: TimeEncoding): string {
  switch (encoding) {
    case "epoch":
      return String(nowMs / 1000);
    case "millis":
      return String(nowMs);
    case "nano":
      return `${nowMs}000000`;
    case "iso8601":
      return JSON.stringify(new Date(nowMs).toISOString().replace("Z", "+0000"));
    case "rfc3339":
      return JSON.stringify(`${new Date(nowMs).toISOString().slice(0, 19)}Z`);
    case "rfc3339nano":
      return JSON.stringify(new Date(nowMs).toISOString());
  }
}

function createSampler(now: () => number): (message: string) => boolean {
  let second = -1;
  const counts = new Map<string, number>();
  return (message) => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      second = current;
      counts.clear();
    }
    const count = (counts.get(message) ?? 0) + 1;
    counts.set(message, count);
    return count <= SAMPLE_FIRST || count % SAMPLE_EVERY === 0;
  };
}

function consoleLine(line: string): string {
  const { level, ts, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const rest = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return `${[ts, String(level).toUpperCase().padEnd(5), msg, ...rest].join("  ")}\n`;
}
