// Keys of the labels and annotations that the operator sets on children or reads on its own kinds.

/** Kubernetes' limit for label values. */
export const LABEL_VALUE_MAX_LENGTH = 63;

/** No user pod template may use a key with this prefix. */
export const RESERVED_KEY_PREFIX = "firebolt.io/";

export const LABEL = {
  /** Owning engine: every engine child and every engine pod. */
  engine: "firebolt.io/engine",
  /** Generation number as a string: generation-scoped children and engine pods, not the routing Service. */
  generation: "firebolt.io/generation",
  /** Owning instance: every instance child. */
  instance: "firebolt.io/instance",
  /** Component of the instance that a child belongs to: one of {@link Component}. */
  component: "firebolt.io/component",
} as const;

export const ANNOTATION = {
  /** On FireboltEngine, read: RFC 3339 time of the newest request for a stopped engine. */
  wakeRequested: "firebolt.io/wake-requested",
  /** On FireboltInstance, read: a new value leaves the phase `Failed`. */
  resetFailed: "firebolt.io/reset-failed",
  /**
   * On FireboltInstance, read: accepts one loss of a catalogue: the uid of the claim to continue with, or `lost-` and
   * the uid of the lost one.
   */
  acceptEmptyCatalogue: "firebolt.io/accept-empty-catalogue",
  /**
   * On the StatefulSet of a built-in PostgreSQL that is stopped or fenced: the uid of the claim that holds, or held,
   * the catalogue.
   */
  lostClaim: "firebolt.io/lost-claim",
  /** On the StatefulSet of a built-in PostgreSQL: the volume in the spec when the StatefulSet was created. */
  volumeWish: "firebolt.io/volume-wish",
  /**
   * On FireboltInstance, read: "true" deletes it although engines use it; they keep running, without metadata and
   * gateway.
   */
  deleteDespiteEngines: "firebolt.io/delete-despite-engines",
  /**
   * On the gateway's pod template, once its ServiceAccount was replaced: the uid of the account whose tokens are
   * valid.
   */
  accountUid: "firebolt.io/service-account-uid",
  /** On the engine StatefulSet: `spec.metadataEndpointOverride`; absent when unset. */
  metadataOverride: "firebolt.io/metadata-override",
  /** On the engine StatefulSet: hash of the class template; absent without a class. */
  engineClassHash: "firebolt.io/engine-class-hash",
  /** On the engine StatefulSet: hash of the merged and stripped engine configuration; absent when empty. */
  customEngineConfigHash: "firebolt.io/custom-engine-config-hash",
  /** On the engine StatefulSet: drift hashes; absent while the feature is off. */
  authHash: "firebolt.io/auth-hash",
  engineTlsHash: "firebolt.io/engine-tls-hash",
  /** On the gateway and metadata pod templates: hash of the rendered configuration. */
  configHash: "firebolt.io/config-hash",
  /**
   * On the Secret with the credentials of a built-in PostgreSQL that is retained: `spec.id` of the instance whose
   * catalogue it is.
   */
  accountId: "firebolt.io/account-id",
  /** On the engine CA bundle Secret: fingerprints of the CAs in it. */
  engineTrustCas: "firebolt.io/engine-trust-cas",
} as const;

export const COMPONENTS = [
  "metadata",
  "gateway",
  "postgres",
  "auth-signing",
  "engine-tls",
  "gateway-tls",
  "engine-ca-bundle",
] as const;
export type Component = (typeof COMPONENTS)[number];
