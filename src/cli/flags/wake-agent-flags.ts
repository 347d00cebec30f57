// The wake agent's flags, their defaults and their help in one table. The caller adds values from the environment.
import { WAKE_PORTS } from "../../api/wake-protocol.ts";
import { notNegative, port } from "./flag-checks.ts";
import type { FlagTable, FlagValues } from "./flag-table.ts";
import { KUBECONFIG_FLAG, LOGGING_FLAGS } from "./shared-flags.ts";

const plainUrl = (value: string): string | undefined =>
  value === "" || /^http:\/\/[^/?#]+$/.test(value) ? undefined : "must look like http://host:port";

export const WAKE_AGENT_FLAGS = {
  help: { type: "boolean", default: "false", help: "print this help and exit" },
  ...KUBECONFIG_FLAG,
  namespace: { type: "string", default: "", help: "namespace of the engines; empty: $POD_NAMESPACE" },
  "hold-port": {
    type: "integer",
    default: String(WAKE_PORTS.hold),
    help: "loopback port for requests of the gateway",
    check: port,
  },
  "demand-port": { type: "integer", default: String(WAKE_PORTS.demand), help: "port of /demand", check: port },
  "discovery-port": {
    type: "integer",
    default: String(WAKE_PORTS.discovery),
    help: "loopback port from which Envoy discovers the endpoints of engines; 0: none, engines are resolved by name",
    check: (value) => (value === "0" ? undefined : port(value)),
  },
  "envoy-admin-url": {
    type: "string",
    default: "",
    help: "URL of Envoy's admin interface; empty: Envoy's memory is not checked",
    check: plainUrl,
  },
  "probe-url": {
    type: "string",
    default: "",
    help: "URL of the gateway's probe listener; empty: a ready engine counts as reachable",
    check: plainUrl,
  },
  "envoy-memory-limit-bytes": {
    type: "string",
    default: "",
    help: "Envoy's memory limit; empty: $ENVOY_MEMORY_LIMIT_BYTES; 0 or malformed: none",
  },
  "per-hold-bytes": {
    type: "integer",
    default: "0",
    help: "bytes that one held request may occupy in Envoy's memory",
    check: notNegative,
  },
  "fallback-hold-cap": {
    type: "integer",
    default: "256",
    help: "limit of held requests when Envoy has no memory limit",
    check: notNegative,
  },
  "hold-timeout": {
    type: "duration",
    default: "120s",
    help: "time after which a held request fails",
    check: notNegative,
  },
  "demand-retention": {
    type: "duration",
    default: "10m",
    help: "how long demand is exposed after the last request",
    check: notNegative,
  },
  "stamp-annotation": {
    type: "boolean",
    default: "false",
    help: "set firebolt.io/wake-requested on stopped engines that receive queries",
  },
  ...LOGGING_FLAGS,
} as const satisfies FlagTable;

export type WakeAgentFlags = FlagValues<typeof WAKE_AGENT_FLAGS>;

/** A malformed limit counts as none: it must not prevent a gateway from starting. */
export function memoryLimitBytes(flag: string, environment: string | undefined): number {
  const text = flag === "" ? (environment ?? "") : flag;
  return /^\d+$/.test(text) ? Number(text) : 0;
}
