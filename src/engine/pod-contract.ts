// What the engine image and the operator agree on: ports, paths, user, and the names of volumes and variables inside
// the pod. Plain data, used for rendering, for merging user templates and for telling the operator's entries from the
// user's.

export const ENGINE_CONTAINER = "engine";

/** The user and group that the engine runs as. */
export const ENGINE_USER = 3473;

export const QUERY_PORT = 3473;
export const HEALTH_PORT = 8122;
export const METRICS_PORT = 9090;

export const ENGINE_PORTS = [
  { name: "http-query", port: QUERY_PORT },
  { name: "health", port: HEALTH_PORT },
  { name: "metrics", port: METRICS_PORT },
] as const;

/** The grace period has no user surface. */
export const TERMINATION_GRACE_SECONDS = 60;

export const VOLUME = { config: "engine-config", runtime: "runtime", data: "data" } as const;

/** User volumes of these names are left out: the operator's own, and the scratch space of the web UI container. */
export const OPERATOR_VOLUMES: ReadonlySet<string> = new Set([...Object.values(VOLUME), "nginx-writable-dir"]);

export const CONFIG_FILE = "config.yaml";
export const MOUNT_PATH = {
  data: "/var/lib/firebolt",
  config: `/var/lib/firebolt/${CONFIG_FILE}`,
  runtime: "/run/firebolt",
} as const;

export const ENV = { podIndex: "POD_INDEX", awsMetadata: "FB_AWS_EC2_METADATA_CLIENT_ENABLED" } as const;
