// Reads the page on which a gateway's wake agent shows demand (docs/monitoring.md#gateway-metrics). Pure and total for any
// text: the page comes from a pod that faces the outside, so only lines of exactly the known form count.

export interface DemandRow {
  /** When the engine was last asked for, in milliseconds since the epoch. */
  readonly stampMs: number;
  /** Requests held for it now. */
  readonly holds: number;
}

const PREFIX = "firebolt_gateway_wake_";
/** On every page, whatever the demand. */
const ALWAYS_THERE = `${PREFIX}demand_dropped_total`;
const ROW = new RegExp(
  `^${PREFIX}(last_demand_timestamp_seconds|pending_holds)\\{engine="([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)"\\} (\\d+(?:\\.\\d+)?)$`,
  "gm",
);

/** By engine; undefined when this is no such page. */
export function parseDemandPage(page: string): ReadonlyMap<string, DemandRow> | undefined {
  if (!page.includes(ALWAYS_THERE)) return undefined;
  const rows = new Map<string, DemandRow>();
  const holds = new Map<string, number>();
  for (const [, series, engine = "", value] of page.matchAll(ROW)) {
    if (series === "pending_holds") holds.set(engine, Number(value));
    else rows.set(engine, { stampMs: Number(value) * 1_000, holds: 0 });
  }
  for (const [engine, count] of holds) {
    const row = rows.get(engine);
    if (row !== undefined) rows.set(engine, { ...row, holds: count });
  }
  return rows;
}
