// Running queries and connections per engine, from the statistics of a gateway pod: which path to request, and what the
// response says. Pure and total for any string: it comes from a pod that faces the outside, so only lines of exactly the
// known form count.
import { ENGINE_LABEL_PATTERN, STATIC_CLUSTERS } from "../api/wake-protocol.ts";
import { STATS_PATH } from "./listeners.ts";
import { ENGINE_QUERY_PORT } from "./ports.ts";

/** Compared with Envoy's own names (`cluster.adhoc.upstream_rq_active`), not with those of Prometheus. */
const FILTER = "^cluster[.].+[.]upstream_(rq|cx)_active$";

/**
 * Two gauges per engine that has been used, instead of about a hundred series per cluster: a gateway may have thousands
 * of engines.
 */
export const ENGINE_LOAD_PATH = `${STATS_PATH}?usedonly&filter=${encodeURIComponent(FILTER)}`;

export interface EngineLoad {
  /** Queries that run, however the engine was found. */
  readonly queries: number;
  /** Those of them whose engine was resolved by name. */
  readonly queriesByName: number;
  readonly connections: number;
}

const NONE: EngineLoad = { queries: 0, queriesByName: 0, connections: 0 };

const VALUE = "(\\d{1,15})";
/** The request itself runs in this cluster: only a response without the gauge is none of Envoy's. */
const OWN = new RegExp(
  `^envoy_cluster_upstream_rq_active\\{envoy_cluster_name="${STATIC_CLUSTERS.admin}"\\} \\d+$`,
  "m",
);
/** An engine that the agent publishes is a cluster of its name. */
const PUBLISHED = new RegExp(
  `^envoy_cluster_upstream_(rq|cx)_active\\{envoy_cluster_name="(${ENGINE_LABEL_PATTERN})"\\} ${VALUE}$`,
  "gm",
);
/**
 * An engine that is resolved by name is a cluster `DFPCluster:<host>:<port>`. Of that, Envoy takes what precedes the
 * first dot for the cluster, and the rest for a part of the gauge's name.
 */
const BY_NAME = new RegExp(
  `^envoy_cluster_[a-z0-9_]{1,63}_svc_cluster_local_${ENGINE_QUERY_PORT}_upstream_(rq|cx)_active\\{envoy_cluster_name="DFPCluster_(${ENGINE_LABEL_PATTERN})-service"\\} ${VALUE}$`,
  "gm",
);

/** By engine; engines without a query and a connection may be missing. Undefined when this is no such response. */
export function parseEngineLoad(body: string): ReadonlyMap<string, EngineLoad> | undefined {
  if (!OWN.test(body)) return undefined;
  const loads = new Map<string, EngineLoad>();
  for (const series of [PUBLISHED, BY_NAME])
    for (const [, gauge, engine = "", value] of body.matchAll(series)) {
      const { queries, queriesByName, connections } = loads.get(engine) ?? NONE;
      const count = Number(value);
      loads.set(engine, {
        queries: queries + (gauge === "rq" ? count : 0),
        queriesByName: queriesByName + (gauge === "rq" && series === BY_NAME ? count : 0),
        connections: connections + (gauge === "cx" ? count : 0),
      });
    }
  return loads;
}
