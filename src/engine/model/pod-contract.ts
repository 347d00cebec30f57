// The engine contract under the names that the engine's code uses. Plain data: everything is spelled in src/api/engine-contract.ts.
import { ENGINE_CONTRACT } from "../../api/engine-contract.ts";

const { ports, portNames, volumes, webVolume } = ENGINE_CONTRACT;

export const ENGINE_CONTAINER = ENGINE_CONTRACT.container;

/** The user and group that the engine runs as. */
export const ENGINE_USER = ENGINE_CONTRACT.user;

export const QUERY_PORT = ports.query;
export const HEALTH_PORT = ports.health;
export const METRICS_PORT = ports.metrics;

export const ENGINE_PORTS = [
  { name: portNames.query, port: ports.query },
  { name: portNames.health, port: ports.health },
  { name: portNames.metrics, port: ports.metrics },
] as const;

/** The grace period has no user surface. */
export const TERMINATION_GRACE_SECONDS = ENGINE_CONTRACT.terminationGraceSeconds;

/**
 * How long a pod that is about to terminate keeps serving before it gets SIGTERM, inside the grace period. Meanwhile
 * gateways learn that it is no endpoint any more and close their idle connections to it: a query on a connection that
 * the engine closes would be lost.
 */
export const PRE_STOP_SECONDS = 5;

export const VOLUME = volumes;

/** User volumes of these names are left out: the operator's own, and the scratch space of the web UI container. */
export const OPERATOR_VOLUMES: ReadonlySet<string> = new Set([...Object.values(volumes), webVolume]);

export const CONFIG_FILE = ENGINE_CONTRACT.configFile;
export const MOUNT_PATH = ENGINE_CONTRACT.mounts;

export const ENV = ENGINE_CONTRACT.env;
