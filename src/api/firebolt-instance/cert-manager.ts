// A certificate that cert-manager issues: for TLS listeners and for token signing keys.
import { SCHEMA_DEFAULTS } from "../defaults.ts";
import { enumOf, int32, object, required, string } from "../schema/builders.ts";
import { goDuration } from "../schema/durations.ts";
import type { CelRule, Infer } from "../schema/schema.ts";

const DEFAULTS = SCHEMA_DEFAULTS.certManager;

/** Lifetimes when the fields are unset or not positive. */
export interface CertificateLifetimes {
  readonly duration: string;
  readonly renewBefore: string;
}

interface CertManagerOptions {
  readonly description: string;
  readonly lifetimes: CertificateLifetimes;
  readonly rules?: readonly CelRule[];
}

const issuerRef = object(
  {
    name: required(string({ description: "Name of the issuer.", minLength: 1 })),
    kind: enumOf(["Issuer", "ClusterIssuer"], { description: "Kind of the issuer.", default: DEFAULTS.issuerKind }),
  },
  { description: "The cert-manager issuer of the certificate." },
);

export const certManager = ({ lifetimes, ...options }: CertManagerOptions) =>
  object(
    {
      issuerRef: required(issuerRef),
      algorithm: enumOf(["RSA", "ECDSA"], {
        description: "Algorithm of the private key.",
        default: DEFAULTS.algorithm,
      }),
      size: int32({
        description: "Size of the private key: 2048, 4096 or 8192 for RSA; 256, 384 or 521 for ECDSA. 0 counts as 384.",
        default: DEFAULTS.size,
      }),
      duration: goDuration({
        field: "duration",
        description: `Lifetime of the certificate. Unset, zero or less means ${lifetimes.duration}.`,
      }),
      renewBefore: goDuration({
        field: "renewBefore",
        description: `How long before its expiry the certificate is renewed. Unset, zero or less means ${lifetimes.renewBefore}; left out when it is not shorter than duration.`,
      }),
    },
    options,
  );
export type CertManager = Infer<ReturnType<typeof certManager>>;
