// The conditions of the three kinds: types and reasons as unions, and the schema of one entry. When each one is set is
// the business of the controllers.
import type { Infer } from "./schema.ts";
import { array, enumOf, int64, object, required, string, time } from "./schema-builders.ts";

export type ConditionStatus = "True" | "False" | "Unknown";

export type InstanceConditionType =
  | "Ready"
  | "MetadataReady"
  | "GatewayReady"
  | "AuthReady"
  | "EngineTLSReady"
  | "GatewayTLSReady";
export type EngineConditionType = "Ready" | "InstanceReady";
export type EngineClassConditionType = "Ready";

type ComponentReason = "Ready" | "Provisioning" | "TemplateRejected" | "EnsureFailed" | "ProbeFailed";
export type MetadataReadyReason =
  | ComponentReason
  | "PostgresEnsureFailed"
  | "PostgresSecretPreflightFailed"
  /** The claim of the built-in PostgreSQL is being deleted, was deleted, or is another one. */
  | "CatalogueLost"
  /** The name is too long for the objects made of it. */
  | "NameRejected";
export type GatewayReadyReason = ComponentReason | "CRLSecretPreflightFailed";

export type AuthReadyReason =
  | "Disabled"
  | "AuthSpecInvalid"
  | "AdminSecretMissing"
  | "SigningCertificateEnsureFailed"
  | "SigningKeyPending"
  | "RotationWaitingForEngines"
  | "Ready";

type ListenerReason =
  | "Disabled"
  | "TLSSpecInvalid"
  | "CertificateEnsureFailed"
  | "CertificatePending"
  | "SecretPending"
  | "Ready";
export type EngineTlsReadyReason =
  | ListenerReason
  | "Draining"
  | "DrainCheckFailed"
  | "Converging"
  | "ConvergenceCheckFailed";
export type GatewayTlsReadyReason = ListenerReason | "StagingFailClosed" | "SecureRolloutPending";

/** The roll-up takes over the reason of the first component that is not ready. */
export type InstanceReadyReason =
  | "AllComponentsReady"
  | "Initializing"
  /** The last pass failed, before anything could be said about the components. */
  | "ReconcileFailed"
  /** Somebody deleted the instance while engines use it. */
  | "DeletionBlocked"
  | MetadataReadyReason
  | GatewayReadyReason
  | EngineTlsReadyReason
  | GatewayTlsReadyReason;

export type EngineInstanceReadyReason = "InstanceReady" | "InstanceNotReady";

export type EngineReadyReason =
  | "Initializing"
  | "FireboltEngineClassUnready"
  | "DrainCheckFailing"
  /** The name is too long or not usable for the objects made of it. */
  | "NameRejected"
  | "TemplateRejected"
  | "ResourceBoundsExceeded"
  /** The API server rejects an object of the engine: invalid, forbidden, or a webhook that cannot be called. */
  | "ObjectRejected"
  /** Another object has a name that the engine needs. */
  | "NameInUse"
  | "InstanceNotReady"
  | "Stopped"
  | "Rolling"
  | "PodsNotReady"
  | "EngineReady"
  /** A StatefulSet warning whose own reason cannot stand in a condition. */
  | "StatefulSetWarning"
  | "ExternalFinalizer";

export type EngineClassReadyReason = "Admissible" | "OperatorOwnedFieldSet" | "DeletionBlocked";

/** What a condition reason must look like: reasons taken over from events are checked against it. */
export const CONDITION_REASON_PATTERN = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
export const CONDITION_REASON_MAX_LENGTH = 1024;
export const CONDITION_MESSAGE_MAX_LENGTH = 32_768;

const CONDITION_TYPE_PATTERN =
  "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";

export const condition = object(
  {
    type: required(
      string({
        description: "What the condition is about, in CamelCase.",
        pattern: CONDITION_TYPE_PATTERN,
        maxLength: 316,
      }),
    ),
    status: required(enumOf(["True", "False", "Unknown"], { description: "Whether the condition holds." })),
    reason: required(
      string({
        description: "Why the condition has this status, as one CamelCase word.",
        pattern: CONDITION_REASON_PATTERN,
        minLength: 1,
        maxLength: CONDITION_REASON_MAX_LENGTH,
      }),
    ),
    message: required(
      string({ description: "The same for people. May be empty.", maxLength: CONDITION_MESSAGE_MAX_LENGTH }),
    ),
    lastTransitionTime: required(time({ description: "When the status last changed." })),
    observedGeneration: int64({ description: "The metadata.generation that the condition was set for.", minimum: 0 }),
  },
  { description: "One aspect of the state of the object." },
);
export type Condition = Infer<typeof condition>;

export const conditions = (description: string) => array(condition, { description });
