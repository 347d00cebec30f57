// What users may not put into a pod template, as data: one table for every template and one per component. The judge is in
// validate-template.ts.
import { ENGINE_CONTRACT } from "../api/engine-contract.ts";

export type TemplateComponent = "engine" | "gateway" | "metadata";

/**
 * When a field counts as set: a `pointer` whenever it is there (even false or 0), a `value` when it is not empty (a text, a
 * list, or true).
 */
export type SetWhen = "pointer" | "value";

export interface RefusedField {
  readonly name: string;
  readonly setWhen: SetWhen;
  readonly why: string;
}

const VOLUMES = ENGINE_CONTRACT.volumes;
const NO_EFFECT = "has no effect on a pod template; remove it";
const OWNED = "is operator-owned and cannot be set";
const WORKLOAD = "is fixed by the workload controller and cannot be set";
const HOST = "is not permitted: pods do not share namespaces of the node";
const NOT_AT_ALL = "may not be set at all, whatever its value";
const INTERACTIVE = "is for interactive use only and cannot be set";

const refused = (setWhen: SetWhen, why: string, ...names: readonly string[]): readonly RefusedField[] =>
  names.map((name) => ({ name, setWhen, why }));

export const REFUSED_METADATA: readonly RefusedField[] = [
  ...refused("value", NO_EFFECT, "name", "generateName", "namespace", "uid", "resourceVersion", "generation"),
  ...refused("pointer", NO_EFFECT, "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
  ...refused("value", NO_EFFECT, "ownerReferences", "finalizers", "managedFields"),
];

export const REFUSED_POD_SPEC: readonly RefusedField[] = [
  ...refused("pointer", OWNED, "terminationGracePeriodSeconds"),
  ...refused("value", OWNED, "subdomain", "hostname"),
  ...refused("value", WORKLOAD, "restartPolicy"),
  ...refused("pointer", WORKLOAD, "activeDeadlineSeconds"),
  ...refused("value", HOST, "hostNetwork", "hostPID", "hostIPC"),
  ...refused("pointer", NOT_AT_ALL, "shareProcessNamespace", "hostUsers"),
];

const REFUSED_ON_PRIMARY: readonly RefusedField[] = [
  ...refused("value", OWNED, "command", "args", "ports"),
  ...refused("pointer", OWNED, "readinessProbe", "livenessProbe", "startupProbe", "restartPolicy"),
  ...refused("value", INTERACTIVE, "stdin", "stdinOnce", "tty"),
];

/** The gateway and the metadata service leave image, pull policy and resources to the user. */
const REFUSED_ON_CLOSED_PRIMARY: readonly RefusedField[] = [
  ...REFUSED_ON_PRIMARY,
  ...refused("value", OWNED, "env", "envFrom", "volumeMounts"),
  ...refused("pointer", OWNED, "securityContext", "lifecycle"),
  ...refused("value", OWNED, "workingDir", "terminationMessagePath", "terminationMessagePolicy"),
  ...refused("value", OWNED, "volumeDevices", "resizePolicy"),
];

export interface ComponentRules {
  /**
   * Accounts that the operator makes for gateways are refused. A gateway may run under an account of any name: that of another one has
   * no right that its own has not.
   */
  readonly refusesGatewayAccounts: boolean;
  /** Name of the container that the operator builds itself. */
  readonly primary: string;
  readonly refusedOnPrimary: readonly RefusedField[];
  readonly reservedContainers: readonly string[];
  /** Environment variables of the primary container that the operator sets. */
  readonly reservedEnv: readonly string[];
  /** Paths in the primary container where the operator mounts its own volumes. */
  readonly reservedMountPaths: readonly string[];
  /** Volumes that the primary container's template may not mount. */
  readonly reservedVolumes: readonly string[];
  /** Those of them that hold Secrets: no other container may mount them either. */
  readonly secretVolumes: readonly string[];
  /** Volumes that are made in numbers, one per signing key: reserved and Secret-backed by the start of their name. */
  readonly secretVolumePrefixes: readonly string[];
}

export const COMPONENT_RULES: Readonly<Record<TemplateComponent, ComponentRules>> = {
  engine: {
    refusesGatewayAccounts: true,
    primary: "engine",
    refusedOnPrimary: REFUSED_ON_PRIMARY,
    reservedContainers: ["engine-web"],
    reservedEnv: Object.values(ENGINE_CONTRACT.env),
    reservedMountPaths: Object.values(ENGINE_CONTRACT.mounts),
    reservedVolumes: [VOLUMES.config, VOLUMES.data, VOLUMES.runtime, "auth-admin", "tls-engine"],
    secretVolumes: ["auth-admin", "tls-engine"],
    secretVolumePrefixes: ["auth-signing-"],
  },
  gateway: {
    refusesGatewayAccounts: false,
    primary: "envoy",
    refusedOnPrimary: REFUSED_ON_CLOSED_PRIMARY,
    reservedContainers: ["wake-agent"],
    reservedEnv: [],
    reservedMountPaths: [],
    reservedVolumes: [
      "config-volume",
      "tmp",
      "engine-ca",
      "tls-gateway",
      "client-ca",
      "engine-crl",
      "client-crl",
      "wake-agent-token",
    ],
    secretVolumes: ["engine-ca", "tls-gateway", "client-ca", "engine-crl", "client-crl", "wake-agent-token"],
    secretVolumePrefixes: [],
  },
  metadata: {
    refusesGatewayAccounts: true,
    primary: "metadata",
    refusedOnPrimary: REFUSED_ON_CLOSED_PRIMARY,
    reservedContainers: [],
    reservedEnv: [],
    reservedMountPaths: [],
    reservedVolumes: ["config", "postgres-creds", "tmp"],
    secretVolumes: ["postgres-creds"],
    secretVolumePrefixes: [],
  },
};
