// Reads the number of queries out of an engine's Prometheus metrics. Pure and total: any string has a result, and what
// is not plainly a finite number of queries counts as missing, never as zero.
import { ENGINE_CONTRACT, type EngineGauge } from "../../api/engine-contract.ts";

const GAUGES: readonly EngineGauge[] = Object.values(ENGINE_CONTRACT.gauges);

export type QueryMetrics =
  /** The sum of all gauges. */
  | { readonly type: "read"; readonly queries: number }
  | { readonly type: "missing"; readonly gauges: readonly string[] };

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Every gauge must have a value: one that is not read could hide a query. */
export function parseQueryMetrics(page: string, gauges: readonly string[] = GAUGES): QueryMetrics {
  const samples = gauges.map((gauge) => ({ gauge, value: sampleOf(page, gauge) }));
  const missing = samples.filter(({ value }) => value === undefined).map(({ gauge }) => gauge);
  if (missing.length > 0) return { type: "missing", gauges: missing };
  return { type: "read", queries: samples.reduce((sum, { value = 0 }) => sum + value, 0) };
}

/** Why there is no number of queries. */
export function missingGaugesText(gauges: readonly string[]): string {
  return `no usable value for ${gauges.join(" and ")}`;
}

/** The first sample without labels decides, even when its value is unusable. */
function sampleOf(page: string, gauge: string): number | undefined {
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
