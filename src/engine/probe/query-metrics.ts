// Reads the number of queries out of an engine's Prometheus metrics. Pure and total: any string has a result, and what
// is not plainly a finite number of queries counts as missing, never as zero.
import { ENGINE_CONTRACT, type EngineGauge } from "../../api/engine-contract.ts";

const { running: RUNNING, suspended: SUSPENDED } = ENGINE_CONTRACT.gauges;

export type QueryMetrics =
  | { readonly type: "read"; readonly running: number; readonly suspended: number }
  | { readonly type: "missing"; readonly gauges: readonly EngineGauge[] };

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

export function parseQueryMetrics(page: string): QueryMetrics {
  const running = sampleOf(page, RUNNING);
  const suspended = sampleOf(page, SUSPENDED);
  if (running !== undefined && suspended !== undefined) return { type: "read", running, suspended };
  const found = { [RUNNING]: running, [SUSPENDED]: suspended };
  return { type: "missing", gauges: [RUNNING, SUSPENDED].filter((gauge) => found[gauge] === undefined) };
}

/** The first sample without labels decides, even when its value is unusable. */
function sampleOf(page: string, gauge: EngineGauge): number | undefined {
  for (let at = page.indexOf(gauge); at >= 0; at = page.indexOf(gauge, at + gauge.length)) {
    const lineStart = page.lastIndexOf("\n", at) + 1;
    if (page.slice(lineStart, at).trim() !== "") continue;
    const lineEnd = page.indexOf("\n", at);
    const rest = page.slice(at + gauge.length, lineEnd < 0 ? page.length : lineEnd);
    if (!/^[ \t]/.test(rest)) continue;
    const [value = ""] = rest.trim().split(/[ \t]+/, 1);
    return countOf(value);
  }
  return undefined;
}

function countOf(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
