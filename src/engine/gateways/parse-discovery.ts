// Parses the endpoint on which a gateway's agent reports the endpoints that queries are sent to. Pure and total for any
// string: it comes from a pod that faces the outside, so only lines of exactly the known form count.
import { DISCOVERY_SERIES, ENGINE_LABEL_PATTERN } from "../../api/wake-protocol.ts";

export interface GatewayReport {
  /** Queries are sent to the endpoints below alone; no name is resolved. */
  readonly isActive: boolean;
  /** By engine, the generations that queries are sent to. */
  readonly generations: ReadonlyMap<string, ReadonlySet<number>>;
  /** Engines whose newest endpoints Envoy has not accepted yet. */
  readonly pending: ReadonlySet<string>;
}

const { active, endpoints, pending } = DISCOVERY_SERIES;
const ACTIVE = new RegExp(`^${active} ([01])$`, "m");
const ENDPOINTS = new RegExp(`^${endpoints}\\{engine="(${ENGINE_LABEL_PATTERN})",generation="(-?\\d+)"\\} \\d+$`, "gm");
const PENDING = new RegExp(`^${pending}\\{engine="(${ENGINE_LABEL_PATTERN})"\\} 1$`, "gm");

/** Undefined when this is no such response. */
export function parseDiscovery(page: string): GatewayReport | undefined {
  const isActive = ACTIVE.exec(page)?.[1];
  if (isActive === undefined) return undefined;
  const generations = new Map<string, Set<number>>();
  for (const [, engine = "", generation] of page.matchAll(ENDPOINTS)) {
    const known = generations.get(engine) ?? new Set();
    generations.set(engine, known.add(Number(generation)));
  }
  const waiting = new Set([...page.matchAll(PENDING)].map(([, engine = ""]) => engine));
  return { isActive: isActive === "1", generations, pending: waiting };
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
