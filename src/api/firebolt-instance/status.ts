// The status of a FireboltInstance: readiness and endpoints of its components, and the state of keys and certificates.

import { INSTANCE_PHASES, ROTATION_STEPS, SIGNING_KEY_PHASES } from "../phases.ts";
import { array, boolean, enumOf, integer, object, required, string, time } from "../schema/builders.ts";
import { conditions } from "../schema/condition.ts";
import { HASH_MAX_LENGTH } from "../schema/hash.ts";
import type { Infer } from "../schema/schema.ts";

const signingKey = object(
  {
    id: required(string({ description: "Key id that tokens carry." })),
    secretName: required(string({ description: "Secret that holds the key." })),
    createdAt: required(time({ description: "When the key was requested." })),
    observedPublicKeyFingerprint: string({ description: "Fingerprint of the public key." }),
    algorithm: string({ description: "Algorithm of the key." }),
    size: integer({ description: "Size of the key." }),
    phase: enumOf(SIGNING_KEY_PHASES, { description: "Whether the key signs, only validates, or is being removed." }),
    demotedAt: time({ description: "When the key stopped signing." }),
    retireEligibleAt: time({ description: "When the key may be deleted." }),
  },
  { description: "A key that signs or validates tokens." },
);

const authStatus = object(
  {
    signingKeys: array(signingKey, { description: "The keys in use." }),
    signingKeyGeneration: integer({ description: "Number of the newest key; only ever grows." }),
    pendingRotationStep: enumOf(ROTATION_STEPS, { description: "Step of a rotation that waits for the engines." }),
    pendingSince: time({ description: "When that step began to wait." }),
    laggingEngines: array(string({ description: "Name of an engine." }), {
      description: "Engines that the step waits for, at most five.",
    }),
    laggingEngineCount: integer({ description: "Number of engines that the step waits for." }),
  },
  { description: "State of the signing keys." },
);

/** Of the value of an annotation, in characters; a longer one is stored as its hash. */
export const RESET_FAILED_MAX_LENGTH = 64;

const secretName = required(string({ description: "Secret that holds the certificate." }));
const createdAt = required(time({ description: "When the certificate was requested." }));

export const instanceStatus = object(
  {
    phase: enumOf(INSTANCE_PHASES, { description: "Summary of the condition Ready." }),
    metadataReady: boolean({ description: "Whether a metadata pod is ready." }),
    gatewayReady: boolean({ description: "Whether a gateway pod is ready." }),
    metadataEndpoint: string({ description: "Address of the metadata service; absent while it is not ready." }),
    gatewayEndpoint: string({ description: "Address of the gateway; absent while it is not ready." }),
    builtInPostgres: object(
      {
        claimUID: required(
          string({
            description: "UID of the PersistentVolumeClaim that holds the catalogue, as first observed or accepted.",
          }),
        ),
      },
      { description: "The PostgreSQL that the operator runs; absent before its claim exists." },
    ),
    gatewayAccount: object(
      {
        uid: required(string({ description: "UID of the gateway's ServiceAccount, as last observed." })),
        replaced: boolean({ description: "Whether the account was ever deleted and created again." }),
      },
      { description: "The ServiceAccount that the operator created for the gateway." },
    ),
    observedResetFailed: string({
      description:
        "Value of the annotation firebolt.io/reset-failed when the instance failed, or the hash of a long one; another value starts a new attempt.",
      maxLength: RESET_FAILED_MAX_LENGTH,
    }),
    reported: object(
      {
        metadata: string({ description: "Hash of the cause that MetadataReady shows.", maxLength: HASH_MAX_LENGTH }),
        gateway: string({ description: "Hash of the cause that GatewayReady shows.", maxLength: HASH_MAX_LENGTH }),
        wakeDisabled: boolean({ description: "Whether waking by queries is disabled." }),
      },
      { description: "What events have reported, so that each cause is reported once." },
    ),
    auth: authStatus,
    engineTLS: object(
      {
        secretName,
        createdAt,
        reencrypting: boolean({ description: "Whether the gateway encrypts its connections to the engines." }),
      },
      { description: "State of TLS on the engines." },
    ),
    gatewayTLS: object(
      {
        secretName,
        createdAt,
        mode: enumOf(["TLS", "MutualTLS"], { description: "What the listener requires of clients." }),
        clientCAFingerprint: string({ description: "Fingerprint of the CA of client certificates." }),
      },
      { description: "State of TLS on the gateway." },
    ),
    rolledEngineTrustCAs: array(string({ description: "SHA-256 in hexadecimal." }), {
      description: "Engine CAs that the gateway is known to trust.",
    }),
    conditions: conditions(
      "Ready sums up MetadataReady, GatewayReady, EngineTLSReady and GatewayTLSReady; AuthReady is not included.",
    ),
  },
  { description: "Observed state. Written only by the operator." },
);
export type InstanceStatus = Infer<typeof instanceStatus>;
