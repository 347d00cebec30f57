// What the operator uses when neither an object nor its class says anything: images and the engine's seccomp profile. The
// command line may replace each; this is plain data, read once at start.

/** `none` leaves the profile unset: current default profiles block io_uring, which engines need. */
export type EngineSeccomp = "none" | "RuntimeDefault" | `Localhost:${string}`;

export interface DefaultImages {
  readonly engine: string;
  readonly metadata: string;
  readonly postgres: string;
  readonly envoy: string;
  readonly engineWeb: string;
}

/** What the operator itself runs with: no template may use it. */
export interface OperatorIdentity {
  /** Where its certificates are. */
  readonly namespace: string;
  /** Unknown out of cluster. */
  readonly account: { readonly namespace: string; readonly name: string } | undefined;
  /** Of its certificates, as far as flags name them. */
  readonly secrets: readonly string[];
}

export interface OperatorDefaults {
  readonly images: DefaultImages;
  readonly engineSeccomp: EngineSeccomp;
  /** Absent where nothing of it runs in a cluster. */
  readonly operator?: OperatorIdentity;
}

/** Engine and metadata move together: one tag for both. */
const RELEASE_TAG = "release-5.0.1-0.20260727005216.d09b51086f14";

export const OPERATOR_DEFAULTS: OperatorDefaults = {
  images: {
    engine: `oci.firebolt.io/firebolt-db/engine:${RELEASE_TAG}`,
    metadata: `ghcr.io/firebolt-db/metadata:${RELEASE_TAG}`,
    postgres: "postgres:16-alpine",
    // The version that the tests run (dev/assets/pins.ts): what was measured and proven holds for that one.
    envoy: "envoyproxy/envoy:v1.40.0",
    engineWeb: "ghcr.io/firebolt-db/firebolt-core-ui:latest",
  },
  engineSeccomp: "none",
};

/** Reads the value of `--engine-seccomp`; undefined when it is none of the three forms. */
export function parseEngineSeccomp(text: string): EngineSeccomp | undefined {
  if (text === "none" || text === "RuntimeDefault") return text;
  const profile = text.startsWith("Localhost:") ? text.slice("Localhost:".length) : "";
  return profile === "" ? undefined : `Localhost:${profile}`;
}
