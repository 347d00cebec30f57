// All defaults: those of the CRDs and those that the operator applies to unset fields. Schemas and descriptions quote
// them, so the reference pages agree with the code.

/** Set by the API server. */
export const SCHEMA_DEFAULTS = {
  autoStop: { enabled: false, idleReplicas: 0, idleTimeout: "30m", pollInterval: "1m" },
  persistentVolumeClaim: { size: "1Gi", accessModes: ["ReadWriteOnce"] },
  certManager: { issuerKind: "ClusterIssuer", algorithm: "ECDSA", size: 384 },
  postgres: { port: 5432, schema: "public" },
  gateway: { metricsPort: 9090 },
  auth: { passwordLogin: "admin_only", adminName: "firebolt", signingAlgorithm: "ES384" },
} as const;

/**
 * For an engine, when neither the engine nor its class sets the field. A schema default would hide the class's value.
 */
export const ENGINE_DEFAULTS = {
  uiSidecar: false,
  drainCheckEnabled: true,
  drainCheckInterval: "5s",
  rollout: "graceful",
  /** The data volume when no backend is named. */
  storage: { emptyDir: {} },
} as const;

/**
 * The most pods that one engine or gateway may have. Every node is listed in the engine's ConfigMap, whose size the
 * API server limits, and a mistyped number must not keep the operator busy at the expense of other objects.
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

/** The built-in PostgreSQL, for unset fields of `spec.metadata.builtInPostgres`. */
export const BUILT_IN_POSTGRES = {
  size: "10Gi",
  resources: { requests: { cpu: "25m", memory: "64Mi" }, limits: { cpu: "250m", memory: "256Mi" } },
} as const;

/** Defaults of the engine process itself. */
export const ENGINE_AUTH_DEFAULTS = {
  tokenExpiry: "1h",
  maxTokenAge: "1d",
  clockSkewTolerance: "30s",
  defaultRoles: ["public"],
  jwksCacheTtl: "1h",
  discoveryRefreshInterval: "1d",
} as const;
