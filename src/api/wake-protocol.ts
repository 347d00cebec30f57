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
} as const;

export const WAKE_HEADERS = {
  /** Of a query: the engine that it is for. */
  engine: "x-firebolt-engine",
  /** Of the agent's response. Without it the gateway lets the request pass. */
  decision: "x-firebolt-wake-decision",
  /** Of the agent's response: the number of its view. */
  epoch: "x-firebolt-wake-epoch",
} as const;

/** The engine's header as people write it. */
export const ENGINE_HEADER = "X-Firebolt-Engine";

export const WAKE_PATHS = { check: "/check", hold: "/hold", demand: "/demand", health: "/healthz" } as const;

/** Query parameter that names the engine, in requests of clients and of the gateway. */
export const ENGINE_PARAMETER = "engine";

/** Envoy's name for the agent. */
export const WAKE_CLUSTER = "wake_agent";

/** While engines change: the runtime key that the agent sets, and the metadata of the route that it selects. */
export const WAKE_CHANGING = { runtimeKey: "wake.changing", metadata: "wake_changing" } as const;

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
  cluster: WAKE_CLUSTER,
  "metadata.changing": WAKE_CHANGING.metadata,
  "name.characters": NAME_CHARACTERS,
  "name.max_length": String(NAME_MAX_LENGTH),
  ...Object.fromEntries(Object.keys(WAKE_DECISIONS).map((decision) => [`decision.${decision}`, decision])),
};
