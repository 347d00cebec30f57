// Pod templates that use what the operator made, for this instance or another one of the namespace, and templates that only look like
// it. One table for admission and for the controllers: both must say the same.
import type { PodTemplateFragment } from "../../src/api/pod-template.ts";

type PodSpec = NonNullable<PodTemplateFragment["spec"]>;

export interface OperatorOwned {
  readonly what: string;
  readonly spec: PodSpec;
  /** Below the template. */
  readonly path: string;
  /** What the message must name. */
  readonly names: string;
  /** A volume that shows a Secret is refused by admission; the controller leaves it out and goes on. */
  readonly leftOut?: true;
}

const volume = (source: object): PodSpec => ({ volumes: [{ name: "v", ...source }] });
const sidecar = (fields: object): PodSpec => ({ containers: [{ name: "side", image: "i", ...fields }] });
const key = (name: string) => ({ env: [{ name: "P", valueFrom: { secretKeyRef: { name, key: "password" } } }] });
const claim = (claimName: string): PodSpec => volume({ persistentVolumeClaim: { claimName } });

const filledFrom = (field: "dataSource" | "dataSourceRef", kind: string, name: string, more: object = {}): PodSpec =>
  volume({
    ephemeral: {
      volumeClaimTemplate: {
        spec: {
          accessModes: ["ReadWriteOnce"],
          resources: { requests: { storage: "1Gi" } },
          [field]: { kind, name, ...more },
        },
      },
    },
  });
const SNAPSHOT = { apiGroup: "snapshot.storage.k8s.io" };

const secretVolume = (name: string, source: object = { secret: { secretName: name } }): OperatorOwned => ({
  what: `a volume with Secret ${name}`,
  spec: volume(source),
  path: "spec.volumes[0]",
  names: `"${name}"`,
  leftOut: true,
});
const variable = (name: string, fields: object = key(name)): OperatorOwned => ({
  what: `a variable from Secret ${name}`,
  spec: sidecar(fields),
  path: "spec.containers[0]",
  names: `"${name}"`,
});

/** No instance of these names needs to exist. */
export const OPERATOR_OWNED: readonly OperatorOwned[] = [
  secretVolume("lakeside-metadata-postgres-creds"),
  secretVolume("other-metadata-postgres-creds"),
  secretVolume("other-engine-ca-bundle", { projected: { sources: [{ secret: { name: "other-engine-ca-bundle" } }] } }),
  secretVolume("other-auth-signing-1"),
  variable("other-metadata-postgres-creds"),
  variable("other-engine-ca-bundle", { envFrom: [{ secretRef: { name: "other-engine-ca-bundle" } }] }),
  ...["data-lakeside-metadata-pg-0", "data-other-metadata-pg-0", "data-other-metadata-pg-12"].map((name) => ({
    what: `the claim ${name}`,
    spec: claim(name),
    path: "spec.volumes[0].persistentVolumeClaim.claimName",
    names: `"${name}"`,
  })),
  ...(["dataSource", "dataSourceRef"] as const).flatMap((field) =>
    [
      { kind: "PersistentVolumeClaim", name: "data-lakeside-metadata-pg-0" },
      { kind: "PersistentVolumeClaim", name: "data-other-metadata-pg-0" },
      { kind: "VolumeSnapshot", name: "data-other-metadata-pg-0", more: SNAPSHOT },
    ].map(({ kind, name, more }) => ({
      what: `a copy of the ${kind} ${name}, by ${field}`,
      spec: filledFrom(field, kind, name, more),
      path: `spec.volumes[0].ephemeral.volumeClaimTemplate.spec.${field}.name`,
      names: `"${name}"`,
    })),
  ),
  {
    what: "a copy of a claim of another namespace",
    spec: filledFrom("dataSourceRef", "PersistentVolumeClaim", "data-other-metadata-pg-0", { namespace: "elsewhere" }),
    path: "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSourceRef.name",
    names: '"data-other-metadata-pg-0"',
  },
  ...["lakeside-gateway", "other-gateway"].map((name) => ({
    what: `the account ${name}`,
    spec: { serviceAccountName: name },
    path: "spec.serviceAccountName",
    names: `"${name}"`,
  })),
];

/** Only in the operator's own namespace, given that it runs as `operator` with the Secret `hooks`. */
export const OWN_OF_OPERATOR: readonly OperatorOwned[] = [
  {
    what: "the operator's own account",
    spec: { serviceAccountName: "operator" },
    path: "spec.serviceAccountName",
    names: '"operator"',
  },
  secretVolume("hooks"),
  secretVolume("release-webhook-cert"),
  variable("release-webhook-cert"),
];

/** Names that are the user's own. */
export const LOOKS_OWNED: readonly { readonly what: string; readonly spec: PodSpec }[] = [
  ...["metadata-postgres-creds", "other-metadata-postgres-creds-copy", "my-webhook-cert"].map((name) => ({
    what: `the Secret ${name}`,
    spec: volume({ secret: { secretName: name } }),
  })),
  ...["data-metadata-pg-0", "data-other-metadata-pg", "other-metadata-pg-0", "data-e-g0-0"].map((name) => ({
    what: `the claim ${name}`,
    spec: claim(name),
  })),
  ...["data-metadata-pg-0", "seed"].map((name) => ({
    what: `a copy of the claim ${name}`,
    spec: filledFrom("dataSource", "PersistentVolumeClaim", name),
  })),
  { what: "a copy of the snapshot nightly", spec: filledFrom("dataSourceRef", "VolumeSnapshot", "nightly", SNAPSHOT) },
  ...["gateway", "other-gateways", "gateway-reader", "engines"].map((name) => ({
    what: `the account ${name}`,
    spec: { serviceAccountName: name },
  })),
];
