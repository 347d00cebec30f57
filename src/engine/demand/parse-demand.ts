// Parses the endpoint on which a gateway's wake agent reports demand (docs/monitoring.md#gateway-metrics). Pure and
// total for any string: it comes from a pod that faces the outside, so only lines of exactly the known form count.
import { type DemandRow, ENGINE_LABEL_PATTERN, WAKE_SERIES } from "../../api/wake-protocol.ts";

export type DemandReading = Pick<DemandRow, "stampMs" | "holds">;

const { lastDemand, pendingHolds, dropped } = WAKE_SERIES;
const ROW = new RegExp(
  `^(${lastDemand}|${pendingHolds})\\{engine="(${ENGINE_LABEL_PATTERN})"\\} (\\d+(?:\\.\\d+)?)$`,
  "gm",
);

/** By engine; undefined when this is no such response. */
export function parseDemand(page: string): ReadonlyMap<string, DemandReading> | undefined {
  if (!page.includes(dropped)) return undefined;
  const rows = new Map<string, DemandReading>();
  const holds = new Map<string, number>();
  for (const [, series, engine = "", value] of page.matchAll(ROW)) {
    if (series === pendingHolds) holds.set(engine, Number(value));
    else rows.set(engine, { stampMs: Number(value) * 1_000, holds: 0 });
  }
  for (const [engine, count] of holds) {
    const row = rows.get(engine);
    if (row !== undefined) rows.set(engine, { ...row, holds: count });
  }
  return rows;
}
