// The metrics port: the gauges by which the operator decides that an engine is drained.
import { createServer, type Server } from "node:http";
import { ENGINE_CONTRACT, QUERY_KINDS, type QueryKind } from "../../../src/api/engine-contract.ts";
import type { EngineState } from "./engine-state.ts";

const { gauges: GAUGE, endpoints: ENDPOINT } = ENGINE_CONTRACT;

export type Gauges = Readonly<Partial<Record<QueryKind, number>>>;

/** `onScrape` is called with the gauges of every response. */
export function createMetricsServer(state: EngineState, onScrape: (gauges: Gauges) => void): Server {
  return createServer((request, response) => {
    request.resume();
    if (state.metricsMode === "hang") return;
    if (request.url !== ENDPOINT.metrics || state.metricsMode === "error") {
      response.writeHead(request.url === ENDPOINT.metrics ? 500 : 404).end();
      return;
    }
    response.writeHead(200, { "Content-Type": "text/plain; version=0.0.4" }).end(renderMetrics(state));
    onScrape(Object.fromEntries(QUERY_KINDS.map((kind) => [kind, state.count(kind)])));
  });
}

export function renderMetrics(state: EngineState): string {
  const lines = [
    "# HELP firebolt_queries Queries in any state.",
    "# TYPE firebolt_queries gauge",
    `firebolt_queries ${state.total}`,
  ];
  const labels = state.metricsMode === "labelled" ? '{node="0"}' : "";
  if (state.metricsMode !== "missing")
    for (const kind of QUERY_KINDS)
      lines.push(`# TYPE ${GAUGE[kind]} gauge`, `${GAUGE[kind]}${labels} ${state.count(kind)}`);
  return `${lines.join("\n")}\n`;
}
