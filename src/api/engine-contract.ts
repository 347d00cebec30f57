// What the engine image and the operator agree on (docs/stand-ins.md): ports, gauges, paths, user, volumes and
// variables of an engine's pod. Plain data and the only place that spells it: rendering, template rules, stand-ins,
// tests and dashboards use or are checked against it.

const DATA_FOLDER = "/var/lib/firebolt";
const CONFIG_FILE = "config.yaml";

export const ENGINE_CONTRACT = {
  container: "engine",
  /** User and group that the engine runs as. */
  user: 3473,
  ports: { query: 3473, health: 8122, metrics: 9090 },
  portNames: { query: "http-query", health: "health", metrics: "metrics" },
  /** Without labels, on the metrics port. All at zero: the engine runs no query. A drain waits for every one of them. */
  gauges: { running: "firebolt_running_queries", suspended: "firebolt_suspended_queries" },
  endpoints: { metrics: "/metrics", live: "/health/live", ready: "/health/ready" },
  program: "/opt/firebolt/firebolt",
  /** Where the operator mounts its volumes; no template may mount anything there. */
  mounts: { data: DATA_FOLDER, config: `${DATA_FOLDER}/${CONFIG_FILE}`, runtime: "/run/firebolt" },
  /** Where a later certificate and its authority are mounted. */
  tlsFolder: "/secrets/tls/engine",
  /** In the data folder and in the ConfigMap. */
  configFile: CONFIG_FILE,
  volumes: { config: "engine-config", runtime: "runtime", data: "data" },
  /** Scratch space of the web UI container. */
  webVolume: "nginx-writable-dir",
  env: { podIndex: "POD_INDEX", awsMetadata: "FB_AWS_EC2_METADATA_CLIENT_ENABLED" },
  terminationGraceSeconds: 60,
} as const;

/** The states in which an engine has a query, one gauge each. */
export type QueryKind = keyof typeof ENGINE_CONTRACT.gauges;
export type EngineGauge = (typeof ENGINE_CONTRACT.gauges)[QueryKind];

const isQueryKind = (key: string): key is QueryKind => Object.hasOwn(ENGINE_CONTRACT.gauges, key);
export const QUERY_KINDS: readonly QueryKind[] = Object.keys(ENGINE_CONTRACT.gauges).filter(isQueryKind);
