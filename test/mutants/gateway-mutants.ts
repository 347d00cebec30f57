// Mutants of what the operator believes of gateways before it deletes an old generation, and of what the agent tells Envoy:
// killed by the unit tests beside them.
import { type Mutant, unit } from "./mutant.ts";

const DRAIN = "src/engine/pass/observe-drain.test.ts";
const REPORTS = "src/engine/gateways/gateway-reports.test.ts";
const DISCOVERY = "src/wake-agent/discovery/engine-discovery.test.ts";
const OBSERVE_DRAIN = "src/engine/pass/observe-drain.ts";
const GATEWAY_REPORTS = "src/engine/gateways/gateway-reports.ts";
const PARSE_DISCOVERY = "src/engine/gateways/parse-discovery.ts";
const ENGINE_DISCOVERY = "src/wake-agent/discovery/engine-discovery.ts";

export const GATEWAY_MUTANTS: readonly Mutant[] = [
  {
    name: "gateways that are not known to have left a generation count as gone",
    file: OBSERVE_DRAIN,
    find: 'if (departure === "unknown") return { untilMs: Math.min(settledMs, nowMs + DISCOVERY_RETRY_MS) };',
    replace: 'if (departure === "unknown") return { sinceMs: earlyMs };',
    killedBy: unit(DRAIN, "discovery-known-not-assumed: while it is unknown", "AssertionError"),
  },
  {
    name: "what pods responded before the gateways were read counts",
    file: OBSERVE_DRAIN,
    find: "Math.max(earlyMs, departure.leftAtMs)",
    replace: "earlyMs",
    killedBy: unit(DRAIN, "what pods responded before the gateways were read does not count", "AssertionError"),
  },
  {
    name: "one gateway that has left a generation speaks for all",
    file: GATEWAY_REPORTS,
    find: "readings.every(",
    replace: "readings.some(",
    killedBy: unit(REPORTS, "unknown while one gateway still has the generation", "to be 'unknown'"),
  },
  {
    name: "a reading from before the request counts",
    file: GATEWAY_REPORTS,
    find: "isDue || beganMs === undefined || beganMs < oldest",
    replace: "isDue || beganMs === undefined",
    killedBy: unit(REPORTS, "a reading from before the request does not count", "AssertionError"),
  },
  {
    name: "a gateway that may resolve names counts as gone",
    file: PARSE_DISCOVERY,
    find: "return report.isActive && !report.pending",
    replace: "return !report.pending",
    killedBy: unit(REPORTS, "unknown while one gateway resolved a name a moment ago", "to be 'unknown'"),
  },
  {
    name: "endpoints that Envoy has not accepted count as its own",
    file: PARSE_DISCOVERY,
    find: "!report.pending.has(engine) && ",
    replace: "",
    killedBy: unit(REPORTS, "unknown while one gateway has not accepted its endpoints", "to be 'unknown'"),
  },
  {
    name: "a query is sent to a cluster that Envoy has not accepted",
    file: ENGINE_DISCOVERY,
    find: "if (this.#stream.isSettled(engine)) return true;",
    replace: "return true;",
    killedBy: unit(DISCOVERY, "an Envoy that does not acknowledge delays a check by a second", "AssertionError"),
  },
  {
    name: "endpoints are published while their watch is broken",
    file: ENGINE_DISCOVERY,
    find: "!this.#isOpen || this.#isSuspended || pods.length === 0",
    replace: "!this.#isOpen || pods.length === 0",
    killedBy: unit(DISCOVERY, "without a watch of endpoints nothing is sent to clusters", "AssertionError"),
  },
];
