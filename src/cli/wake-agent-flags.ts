// The wake agent's flags, their defaults and their meaning in one table. What the environment says is filled in by the caller.
import { WAKE_PORTS } from "../api/wake-protocol.ts";
import { notNegative, port } from "./flag-checks.ts";
import type { FlagTable, FlagValues } from "./flags.ts";
import { KUBECONFIG_FLAG, LOGGING_FLAGS } from "./shared-flags.ts";

const plainUrl = (value: string): string | undefined =>
  value === "" || /^http:\/\/[^/?#]+$/.test(value) ? undefined : "must look like http://host:port";

export const WAKE_AGENT_FLAGS = {
  help: { type: "boolean", default: "false", help: "print this text and exit" },
  ...KUBECONFIG_FLAG,
  namespace: { type: "string", default: "", help: "whose engines are held and woken; empty means $POD_NAMESPACE" },
  "hold-port": {
    type: "integer",
    default: String(WAKE_PORTS.hold),
    help: "loopback port that the gateway asks",
    check: port,
  },
  "demand-port": { type: "integer", default: String(WAKE_PORTS.demand), help: "port that shows /demand", check: port },
  "envoy-admin-url": {
    type: "string",
    default: "",
    help: "Envoy's administration; empty: its memory is not looked at",
    check: plainUrl,
  },
  "probe-url": {
    type: "string",
    default: "",
    help: "where the gateway lets engines be tried; empty: a ready engine counts as reached",
    check: plainUrl,
  },
  "envoy-memory-limit-bytes": {
    type: "string",
    default: "",
    help: "Envoy's memory limit; empty means $ENVOY_MEMORY_LIMIT_BYTES, 0 or malformed means none",
  },
  "per-hold-bytes": {
    type: "integer",
    default: "0",
    help: "what one held request may keep in Envoy's memory",
    check: notNegative,
  },
  "fallback-hold-cap": {
    type: "integer",
    default: "256",
    help: "requests held at once when Envoy has no memory limit",
    check: notNegative,
  },
  "hold-timeout": { type: "duration", default: "120s", help: "how long a request is held", check: notNegative },
  "demand-retention": { type: "duration", default: "10m", help: "how long demand is shown", check: notNegative },
  "stamp-annotation": {
    type: "boolean",
    default: "false",
    help: "write firebolt.io/wake-requested on engines that are waited for",
  },
  ...LOGGING_FLAGS,
} as const satisfies FlagTable;

export type WakeAgentFlags = FlagValues<typeof WAKE_AGENT_FLAGS>;

/** A malformed limit counts as none: a wrong number must not keep a gateway from starting. */
export function memoryLimitBytes(flag: string, environment: string | undefined): number {
  const text = flag === "" ? (environment ?? "") : flag;
  return /^\d+$/.test(text) ? Number(text) : 0;
}
