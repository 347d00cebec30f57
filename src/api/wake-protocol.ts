// How a gateway, the wake agent beside it and the operator talk about engines that cannot serve
// (docs/auto-stop-and-wake.md). The only place that spells headers, paths, decisions, series, ports and the pattern of
// engine names: agent and operator import it, and `npm run generate` fills it into the Lua scripts. Plain data.

/** Listeners of the wake agent, and the one through which it probes engines. */
export const WAKE_PORTS = {
  /** Check and hold requests of the gateway; loopback only. */
  hold: 9902,
  /** Observed demand, for the operator and Prometheus. */
  demand: 9903,
  /** Envoy's listener for reachability probes; loopback only. */
  probe: 9904,
  /** Envoy's discovery stream; loopback only. */
  discovery: 9905,
} as const;

export const WAKE_HEADERS = {
  /** Of a query: the engine that it is for. */
  engine: "x-firebolt-engine",
  /** Of the agent's response. Without it the gateway lets the request pass. */
  decision: "x-firebolt-wake-decision",
  /** Of the agent's response: the number of its view. */
  epoch: "x-firebolt-wake-epoch",
  /**
   * The cluster that a query is sent to. Of the agent's response: Envoy has the engine as a cluster of this name. Of a
   * query: set by the scripts alone, and removed from what clients send before anything reads it.
   */
  cluster: "x-firebolt-cluster",
} as const;

/** The engine's header as people write it. */
export const ENGINE_HEADER = "X-Firebolt-Engine";

export const WAKE_PATHS = {
  check: "/check",
  hold: "/hold",
  demand: "/demand",
  discovery: "/discovery",
  health: "/healthz",
} as const;

/** Query parameter that names the engine, in requests of clients and of the gateway. */
export const ENGINE_PARAMETER = "engine";

/**
 * Envoy's names for clusters that are not engines. Every one has an underscore, which no engine's name can have: a
 * query for an engine of that name never reaches them.
 */
export const STATIC_CLUSTERS = {
  /** Engines, resolved by name. */
  engines: "dynamic_forward_proxy",
  admin: "admin_stats",
  wakeAgent: "wake_agent",
  discovery: "wake_discovery",
} as const;

/** While engines change: the runtime key that the agent sets, and the script that then runs. */
export const WAKE_CHANGING = { runtimeKey: "wake.changing", script: "while_engines_change" } as const;

/** What the agent decides about a request, and the status that carries it. */
export const WAKE_DECISIONS = {
  /** Lets pass; the gateway remembers it for as long as the epoch lasts. */
  ready: 200,
  /** Lets pass after a hold; remembered like `ready`. */
  released: 200,
  /** Lets this one request pass: the engine was requested to stop, and still serves. */
  leaving: 200,
  /** Lets pass: the agent does not know. */
  unsynced: 200,
  /** The request is to be held. */
  wait: 202,
  /** The engine's name is not a DNS label. */
  rejected: 400,
  /** There is no such engine, as the API server confirms. */
  unknown: 404,
  /** The hold queue is full. */
  shed: 503,
  /** Not up in time. */
  timeout: 503,
  /** At zero without auto-stop: only its owner can start it. */
  stopped: 503,
  /** At zero, and the API server rejects the agent's request to start it. */
  denied: 503,
} as const;
export type WakeDecision = keyof typeof WAKE_DECISIONS;

/** Counts queries for engines that were resolved by name although an agent runs beside the gateway. */
export const FALLBACK_ROUTE = "by_name";

export const DISCOVERY_SERIES_PREFIX = "firebolt_gateway_discovery_";

/** The series of the discovery endpoint. */
export const DISCOVERY_SERIES = {
  /** 1: queries go to the endpoints that the agent publishes, and to those alone. By it the operator decides. */
  active: `${DISCOVERY_SERIES_PREFIX}active`,
  connected: `${DISCOVERY_SERIES_PREFIX}connected`,
  engines: `${DISCOVERY_SERIES_PREFIX}engines`,
  rejected: `${DISCOVERY_SERIES_PREFIX}rejected_total`,
  byName: `${DISCOVERY_SERIES_PREFIX}queries_by_name_total`,
  /** Per engine and generation: the pods that queries are sent to. */
  endpoints: `${DISCOVERY_SERIES_PREFIX}endpoints`,
  /** Per engine: Envoy has not accepted the newest endpoints yet. */
  pending: `${DISCOVERY_SERIES_PREFIX}pending`,
} as const;

export const WAKE_SERIES_PREFIX = "firebolt_gateway_wake_";

/** The series of the demand endpoint. */
export const WAKE_SERIES = {
  lastDemand: `${WAKE_SERIES_PREFIX}last_demand_timestamp_seconds`,
  pendingHolds: `${WAKE_SERIES_PREFIX}pending_holds`,
  shed: `${WAKE_SERIES_PREFIX}shed_total`,
  /** Present whatever the demand: by it the operator recognises the response. */
  dropped: `${WAKE_SERIES_PREFIX}demand_dropped_total`,
  apiErrors: `${WAKE_SERIES_PREFIX}api_errors_total`,
} as const;

/** The demand for one engine, as the agent counts it and the operator reads it. */
export interface DemandRow {
  readonly engine: string;
  /** When the last request found no ready endpoint, in milliseconds since the epoch. */
  readonly stampMs: number;
  /** Requests held now. */
  readonly holds: number;
  /** Requests rejected for capacity. */
  readonly shed: number;
}

const NAME_CHARACTERS = "a-z0-9";
const NAME_MAX_LENGTH = 63;

/** One DNS label. A dot would let a caller leave the namespace; a colon or an at sign would change the authority. */
export const ENGINE_LABEL_PATTERN = `[${NAME_CHARACTERS}](?:[${NAME_CHARACTERS}-]{0,${NAME_MAX_LENGTH - 2}}[${NAME_CHARACTERS}])?`;

/** What `{{NAME}}` in a Lua script stands for. */
export const LUA_CONSTANTS: Readonly<Record<string, string>> = {
  "header.engine": WAKE_HEADERS.engine,
  "header.engine.shown": ENGINE_HEADER,
  "header.decision": WAKE_HEADERS.decision,
  "header.epoch": WAKE_HEADERS.epoch,
  "parameter.engine": ENGINE_PARAMETER,
  "path.check": WAKE_PATHS.check,
  "path.hold": WAKE_PATHS.hold,
  "header.cluster": WAKE_HEADERS.cluster,
  "cluster.agent": STATIC_CLUSTERS.wakeAgent,
  "cluster.by_name": STATIC_CLUSTERS.engines,
  "name.characters": NAME_CHARACTERS,
  "name.max_length": String(NAME_MAX_LENGTH),
  ...Object.fromEntries(Object.keys(WAKE_DECISIONS).map((decision) => [`decision.${decision}`, decision])),
};
