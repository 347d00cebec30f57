// Every default in one place: those that the CRDs fill in and those that the operator applies when a field is unset.
// Schemas and descriptions quote them, so what the reference page says is what the code does.

/** Filled in by the API server. */
export const SCHEMA_DEFAULTS = {
  autoStop: { enabled: false, idleReplicas: 0, idleTimeout: "30m", pollInterval: "1m" },
  persistentVolumeClaim: { size: "1Gi", accessModes: ["ReadWriteOnce"] },
  certManager: { issuerKind: "ClusterIssuer", algorithm: "ECDSA", size: 384 },
  postgres: { port: 5432, schema: "public" },
  gateway: { metricsPort: 9090 },
  auth: { passwordLogin: "admin_only", adminName: "firebolt", signingAlgorithm: "ES384" },
} as const;

/** Used for an engine when neither the engine nor its class says anything. A schema default would hide the class value. */
export const ENGINE_DEFAULTS = {
  uiSidecar: false,
  drainCheckEnabled: true,
  drainCheckInterval: "5s",
  rollout: "graceful",
  /** The data volume when no backend is named. */
  storage: { emptyDir: {} },
} as const;

/**
 * The most pods that one engine or gateway may have. Every node is listed in the engine's configuration, whose object the API server limits,
 * and a number with zeros too many must not keep the operator from working for everybody else.
 */
export const MAX_REPLICAS = 1_000;

/** Used for an instance when the field is unset (or, for the durations, not positive). */
export const INSTANCE_DEFAULTS = {
  metricScrapeMode: "ApiserverProxy",
  metadataReplicas: 1,
  gatewayReplicas: 2,
  tlsCertificate: { duration: "2160h", renewBefore: "720h" },
  signingCertificate: { duration: "8760h", renewBefore: "2880h" },
} as const;

/** The PostgreSQL that the operator runs, where `spec.metadata.builtInPostgres` says nothing. */
export const BUILT_IN_POSTGRES = {
  size: "10Gi",
  resources: { requests: { cpu: "25m", memory: "64Mi" }, limits: { cpu: "250m", memory: "256Mi" } },
} as const;

/** What an engine process assumes by itself when its configuration leaves these out. */
export const ENGINE_AUTH_DEFAULTS = {
  tokenExpiry: "1h",
  maxTokenAge: "1d",
  clockSkewTolerance: "30s",
  defaultRoles: ["public"],
  jwksCacheTtl: "1h",
  discoveryRefreshInterval: "1d",
} as const;
