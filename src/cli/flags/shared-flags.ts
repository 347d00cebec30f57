// The flags that manager and wake agent share: the cluster, and the format of log lines. Loads neither of the two.
import { type Logger, systemClock } from "@firebolt-operator/kube";
import { createLogger, type TimeEncoding } from "../logging.ts";
import { oneOf } from "./flag-checks.ts";
import type { FlagTable, FlagValues } from "./flag-table.ts";

export const KUBECONFIG_FLAG = {
  kubeconfig: {
    type: "string",
    default: "",
    help: "kubeconfig file; empty: $KUBECONFIG, then in-cluster, then ~/.kube/config",
  },
} as const satisfies FlagTable;

export const LOGGING_FLAGS = {
  "zap-devel": { type: "boolean", default: "false", help: "console format, debug level, no sampling" },
  "zap-encoder": {
    type: "string",
    default: "json",
    help: "log format: json or console",
    check: oneOf("json", "console"),
  },
  "zap-log-level": {
    type: "string",
    default: "info",
    help: "lowest level to log: debug, info, error, panic, or a verbosity above 0",
    check: (value) =>
      /^(debug|info|error|panic|[1-9]\d*)$/.test(value)
        ? undefined
        : "must be debug, info, error, panic or a number above 0",
  },
  "zap-stacktrace-level": {
    type: "string",
    default: "error",
    help: "lowest level with stack traces",
    check: oneOf("info", "error", "panic"),
  },
  "zap-time-encoding": {
    type: "string",
    default: "rfc3339",
    help: "time format: epoch, millis, nano, iso8601, rfc3339 or rfc3339nano",
    check: oneOf("epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano"),
  },
} as const satisfies FlagTable;

export function loggerFor(flags: FlagValues<typeof LOGGING_FLAGS>): Logger {
  const devel = flags["zap-devel"];
  const level = flags["zap-log-level"];
  return createLogger({
    encoder: devel || flags["zap-encoder"] === "console" ? "console" : "json",
    level: devel || level === "debug" || /^\d+$/.test(level) ? "debug" : level === "info" ? "info" : "error",
    timeEncoding: flags["zap-time-encoding"] as TimeEncoding,
    stacks: devel || flags["zap-stacktrace-level"] !== "panic",
    sampled: !devel,
    write: (line) => process.stderr.write(line),
    now: () => systemClock.now(),
  });
}
