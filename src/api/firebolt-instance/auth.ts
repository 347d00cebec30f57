// Authentication of an instance: `spec.auth`. Not available yet: `enabled: true` is rejected. The fields are complete,
// so that manifests that keep it disabled are accepted. Rules across fields are checked by admission.

import { ENGINE_AUTH_DEFAULTS, INSTANCE_DEFAULTS, SCHEMA_DEFAULTS } from "../defaults.ts";
import { rejectEnabling } from "../schema/availability.ts";
import { boolean, enumOf, object, required, string } from "../schema/builders.ts";
import { dayDuration, goDuration } from "../schema/durations.ts";
import { secretKeyRef } from "../schema/references.ts";
import type { Infer } from "../schema/schema.ts";
import { certManager } from "./cert-manager.ts";
import { instanceOidc } from "./oidc.ts";

const DEFAULTS = SCHEMA_DEFAULTS.auth;

export const SIGNING_ALGORITHMS = ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512"] as const;
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

const signingKeys = object(
  {
    certManager: required(
      certManager({
        description: "How the keys are generated. The size cannot change once it is set.",
        lifetimes: INSTANCE_DEFAULTS.signingCertificate,
        rules: [
          {
            rule: "oldSelf.size in [0, self.size]",
            message: "the size of the signing key cannot change once it is set",
            fieldPath: ".size",
          },
        ],
      }),
    ),
    rotationInterval: goDuration({
      field: "rotationInterval",
      description: "Age at which the active key is replaced; needs retainDuration. Unset means never.",
    }),
    retainDuration: goDuration({
      field: "retainDuration",
      description:
        "How long a replaced key still validates tokens; at least maxTokenAge plus clockSkewTolerance. Needs rotationInterval.",
    }),
  },
  { description: "The keys that sign tokens, shared by all engines. Required when authentication is enabled." },
);

const local = object(
  {
    passwordLogin: enumOf(["admin_only", "any_user"], {
      description: "Who may log in with a password.",
      default: DEFAULTS.passwordLogin,
    }),
    admin: required(
      object(
        {
          name: string({ description: "Name of the administrator.", default: DEFAULTS.adminName }),
          password: required(
            secretKeyRef("Key of the Secret that holds the password. The operator never generates one."),
          ),
        },
        { description: "The administrator's account." },
      ),
    ),
    signingAlgorithm: enumOf(SIGNING_ALGORITHMS, {
      description: "Algorithm that signs tokens. Cannot change once it is set.",
      default: DEFAULTS.signingAlgorithm,
      rules: [{ rule: "oldSelf in ['', self]", message: "signingAlgorithm cannot change once it is set" }],
    }),
    tokenExpiry: dayDuration({
      description: `Lifetime of a token. Unset means ${ENGINE_AUTH_DEFAULTS.tokenExpiry}.`,
    }),
    maxTokenAge: dayDuration({
      description: `Maximum age of a token. Unset means ${ENGINE_AUTH_DEFAULTS.maxTokenAge}.`,
    }),
    clockSkewTolerance: dayDuration({
      description: `Tolerated difference between clocks. Unset means ${ENGINE_AUTH_DEFAULTS.clockSkewTolerance}.`,
    }),
    signingKeys,
  },
  { description: "The authorization server inside the engines. Required when authentication is enabled." },
);

export const instanceAuth = object(
  {
    enabled: boolean({
      description: "Turns authentication on for every engine of the instance. Not available yet.",
      default: false,
      rules: [rejectEnabling("spec.auth.enabled", "authentication")],
    }),
    preferredAuthorizationServer: string({
      description: "Authorization server that clients should prefer: _local or the name of a configured provider.",
    }),
    local,
    oidc: instanceOidc,
  },
  {
    description: "Authentication for every engine of the instance.",
    rules: [
      {
        rule: "has(self.local) || !self.enabled",
        message: "local is required when authentication is enabled",
        fieldPath: ".local",
        reason: "FieldValueRequired",
      },
    ],
  },
);
export type InstanceAuth = Infer<typeof instanceAuth>;
