// Parses the endpoint on which a gateway's agent reports the endpoints that queries are sent to: for the operator, and
// for the plugin's status. Pure and total for any string: it comes from a pod that faces the outside, so only lines of
// exactly the known form count.
import { DISCOVERY_SERIES, ENGINE_LABEL_PATTERN } from "../../api/wake-protocol.ts";

export interface GatewayReport {
  /** Queries are sent to the endpoints below alone; no name is resolved. */
  readonly isActive: boolean;
  /** Envoy's discovery stream is open. Undefined, like the three numbers below: not reported. */
  readonly isConnected: boolean | undefined;
  /** Engines that Envoy has as clusters. */
  readonly engines: number | undefined;
  /** Resources that Envoy rejected so far. */
  readonly rejected: number | undefined;
  /** Queries so far whose engine was resolved by name. */
  readonly queriesByName: number | undefined;
  /** By engine and generation, the number of pods that queries are sent to. */
  readonly generations: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Engines whose newest endpoints Envoy has not accepted yet. */
  readonly pending: ReadonlySet<string>;
}

/** So many digits are exact as a number. */
const COUNT = "\\d{1,15}";
const LABEL = `engine="(${ENGINE_LABEL_PATTERN})"`;
const ENDPOINTS = new RegExp(
  `^${DISCOVERY_SERIES.endpoints}\\{${LABEL},generation="(-?${COUNT})"\\} (${COUNT})$`,
  "gm",
);
const PENDING = new RegExp(`^${DISCOVERY_SERIES.pending}\\{${LABEL}\\} 1$`, "gm");
/** Any row about an engine. */
const ROW = new RegExp(`^(?:${DISCOVERY_SERIES.endpoints}|${DISCOVERY_SERIES.pending})\\{`, "gm");

const single = (series: string, value = COUNT): RegExp => new RegExp(`^${series} (${value})$`, "m");
const ACTIVE = single(DISCOVERY_SERIES.active, "[01]");
const CONNECTED = single(DISCOVERY_SERIES.connected, "[01]");
const ENGINES = single(DISCOVERY_SERIES.engines);
const REJECTED = single(DISCOVERY_SERIES.rejected);
const BY_NAME = single(DISCOVERY_SERIES.byName);

/** Undefined when this is no such response. */
export function parseDiscovery(body: string): GatewayReport | undefined {
  const isActive = flagIn(body, ACTIVE);
  if (isActive === undefined || !isUnderstood(body)) return undefined;
  const generations = new Map<string, Map<number, number>>();
  for (const [, engine = "", generation, count] of body.matchAll(ENDPOINTS)) {
    const known = generations.get(engine) ?? new Map<number, number>();
    generations.set(engine, known.set(Number(generation), Number(count)));
  }
  return {
    isActive,
    isConnected: flagIn(body, CONNECTED),
    engines: countIn(body, ENGINES),
    rejected: countIn(body, REJECTED),
    queriesByName: countIn(body, BY_NAME),
    generations,
    pending: new Set([...body.matchAll(PENDING)].map(([, engine = ""]) => engine)),
  };
}

/** A row of another form may name a generation that queries are sent to: ignoring it would report that none are. */
function isUnderstood(body: string): boolean {
  const rows = [...body.matchAll(ROW)].length;
  return rows === [...body.matchAll(ENDPOINTS)].length + [...body.matchAll(PENDING)].length;
}

function countIn(body: string, series: RegExp): number | undefined {
  const value = series.exec(body)?.[1];
  return value === undefined ? undefined : Number(value);
}

function flagIn(body: string, series: RegExp): boolean | undefined {
  const value = countIn(body, series);
  return value === undefined ? undefined : value === 1;
}

/**
 * No query for the engine is sent to this generation any more. Endpoints whose generation is unknown (-1) may be of
 * this one.
 */
export function hasLeft(report: GatewayReport, engine: string, generation: number): boolean {
  const used = report.generations.get(engine);
  const isUsed = used?.has(generation) === true || used?.has(-1) === true;
  return report.isActive && !report.pending.has(engine) && !isUsed;
}
