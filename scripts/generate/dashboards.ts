// The engine's dashboard with the gauges of the engine contract: each query is found by its legend. Everything else of
// the file is written by hand. Pure.
import { ENGINE_CONTRACT } from "../../src/api/engine-contract.ts";

export const ENGINE_DASHBOARD = "charts/firebolt-operator/dashboards/engine.json";

export function fillGauges(dashboard: string): string {
  return Object.entries(ENGINE_CONTRACT.gauges).reduce((text, [kind, gauge]) => {
    const query = new RegExp(
      `(\\(firebolt_io_generation\\) \\()\\w+(\\{[^\\n]*\\n\\s*"legendFormat": "${kind}, generation )`,
    );
    if (!query.test(text)) throw new Error(`${ENGINE_DASHBOARD} has no query with the legend "${kind}, generation"`);
    return text.replace(query, (_, before: string, after: string) => `${before}${gauge}${after}`);
  }, dashboard);
}
