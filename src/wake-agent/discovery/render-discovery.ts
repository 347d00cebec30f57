// The response of /discovery in the Prometheus text format: whether Envoy uses the endpoints that the agent publishes,
// and which those are. The operator reads it before it deletes an old generation (docs/design/gateway.md#discovery).
import { DISCOVERY_SERIES } from "../../api/wake-protocol.ts";
import type { EngineView } from "../engine-view.ts";
import type { GatewayMonitor } from "../gateway-monitor.ts";
import type { EngineDiscovery } from "./engine-discovery.ts";

export interface DiscoveryState {
  readonly discovery: Pick<EngineDiscovery, "connected" | "engines" | "rejections" | "generations" | "isAccepted">;
  readonly view: Pick<EngineView, "complete" | "isWatchBroken" | "engineNames">;
  readonly gateway: Pick<GatewayMonitor, "queriesByName" | "withoutNamesMs">;
}

/** DNS servers cache for 30 s: for so long no query may have been sent to a name. */
const WITHOUT_NAMES_MS = 30_000;
/** Readers accept at most one mebibyte. */
const MOST_BYTES = 1_000_000;

/** Queries go to the published endpoints alone, and those are what the API server has, as far as the agent knows. */
export function isActive({ discovery, view, gateway }: DiscoveryState): boolean {
  return discovery.connected && view.complete && !view.isWatchBroken && gateway.withoutNamesMs >= WITHOUT_NAMES_MS;
}

/** Names of engines are DNS labels and need no escaping. */
export function renderDiscovery(state: DiscoveryState): string {
  const { discovery, view, gateway } = state;
  const rows = [...endpointRows(discovery, view.engineNames)];
  // A response without an engine would mean that none of its pods gets queries.
  const isComplete = rows.reduce((bytes, row) => bytes + row.length + 1, 0) <= MOST_BYTES;
  return [
    ...one(
      DISCOVERY_SERIES.active,
      "gauge",
      "1 if queries are sent to the published endpoints alone; 0 if names may be resolved.",
      isComplete && isActive(state) ? 1 : 0,
    ),
    ...one(DISCOVERY_SERIES.connected, "gauge", "1 if Envoy's discovery stream is open.", discovery.connected ? 1 : 0),
    ...one(DISCOVERY_SERIES.engines, "gauge", "Engines that Envoy has as clusters.", discovery.engines.length),
    ...one(DISCOVERY_SERIES.rejected, "counter", "Resources that Envoy rejected.", discovery.rejections),
    ...one(
      DISCOVERY_SERIES.byName,
      "counter",
      "Queries whose engine was resolved by name, as Envoy counts them.",
      gateway.queriesByName ?? 0,
    ),
    `# HELP ${DISCOVERY_SERIES.endpoints} Pods that queries for the engine are sent to, by generation.`,
    `# TYPE ${DISCOVERY_SERIES.endpoints} gauge`,
    ...(isComplete ? rows : []),
    `# HELP ${DISCOVERY_SERIES.pending} Engines whose newest endpoints Envoy has not accepted yet.`,
    `# TYPE ${DISCOVERY_SERIES.pending} gauge`,
    ...discovery.engines
      .filter((engine) => !discovery.isAccepted(engine))
      .map((engine) => `${DISCOVERY_SERIES.pending}{engine="${engine}"} 1`),
    "",
  ].join("\n");
}

function* endpointRows(discovery: DiscoveryState["discovery"], names: readonly string[]): Generator<string> {
  // An engine that was deleted a moment ago is still a cluster.
  for (const engine of new Set([...names, ...discovery.engines]))
    for (const [generation, count] of discovery.generations(engine))
      yield `${DISCOVERY_SERIES.endpoints}{engine="${engine}",generation="${generation}"} ${count}`;
}

function one(name: string, type: string, help: string, value: number): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, `${name} ${value}`];
}
