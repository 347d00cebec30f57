// Defaults that flags of the operator can override: images and the engine's seccomp profile. Plain data, read once at
// start.

/** `none` leaves the profile unset: current default profiles block io_uring, which engines need. */
export type EngineSeccomp = "none" | "RuntimeDefault" | `Localhost:${string}`;

export interface DefaultImages {
  readonly engine: string;
  readonly metadata: string;
  readonly postgres: string;
  readonly envoy: string;
  readonly engineWeb: string;
}

/** Identity and Secrets of the operator itself: no template may use them. */
export interface OperatorIdentity {
  /** Where its certificates are. */
  readonly namespace: string;
  /** Unknown outside a cluster. */
  readonly account: { readonly namespace: string; readonly name: string } | undefined;
  /** Secrets of its certificates, as named by flags. */
  readonly secrets: readonly string[];
}

export interface OperatorDefaults {
  readonly images: DefaultImages;
  readonly engineSeccomp: EngineSeccomp;
  /** Absent outside a cluster. */
  readonly operator?: OperatorIdentity;
}

/** Engine and metadata service are released together: one tag for both. */
const RELEASE_TAG = "release-5.0.1-0.20260727005216.d09b51086f14";

export const OPERATOR_DEFAULTS: OperatorDefaults = {
  images: {
    engine: `oci.firebolt.io/firebolt-db/engine:${RELEASE_TAG}`,
    metadata: `ghcr.io/firebolt-db/metadata:${RELEASE_TAG}`,
    postgres: "postgres:16-alpine",
    // The version that the tests run (dev/assets/pins.ts).
    envoy: "envoyproxy/envoy:v1.40.0",
    engineWeb: "ghcr.io/firebolt-db/firebolt-core-ui:latest",
  },
  engineSeccomp: "none",
};

/** Parses the value of `--engine-seccomp`; undefined when it is invalid. */
export function parseEngineSeccomp(text: string): EngineSeccomp | undefined {
  if (text === "none" || text === "RuntimeDefault") return text;
  const profile = text.startsWith("Localhost:") ? text.slice("Localhost:".length) : "";
  return profile === "" ? undefined : `Localhost:${profile}`;
}
