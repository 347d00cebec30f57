// Fields that users may not set in a pod template, as data: one table for all templates and one per component.
// validate-template.ts applies them.
import { ENGINE_CONTRACT } from "../../api/engine-contract.ts";

export type TemplateComponent = "engine" | "gateway" | "metadata";

/**
 * When a field counts as set: a `pointer` whenever it is present (even false or 0), a `value` when it is not empty (a
 * string, a list, or true).
 */
export type SetWhen = "pointer" | "value";

export interface ForbiddenField {
  readonly name: string;
  readonly setWhen: SetWhen;
  readonly why: string;
}

const VOLUMES = ENGINE_CONTRACT.volumes;
const NO_EFFECT = "has no effect on a pod template; remove it";
const OWNED = "is operator-owned and cannot be set";
const WORKLOAD = "is fixed by the workload controller and cannot be set";
const HOST = "is not allowed: pods do not share the namespaces of their node";
const NOT_AT_ALL = "cannot be set to any value";
const INTERACTIVE = "is for interactive use only and cannot be set";

const forbid = (setWhen: SetWhen, why: string, ...names: readonly string[]): readonly ForbiddenField[] =>
  names.map((name) => ({ name, setWhen, why }));

export const FORBIDDEN_METADATA: readonly ForbiddenField[] = [
  ...forbid("value", NO_EFFECT, "name", "generateName", "namespace", "uid", "resourceVersion", "generation"),
  ...forbid("pointer", NO_EFFECT, "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
  ...forbid("value", NO_EFFECT, "ownerReferences", "finalizers", "managedFields"),
];

export const FORBIDDEN_POD_SPEC: readonly ForbiddenField[] = [
  ...forbid("pointer", OWNED, "terminationGracePeriodSeconds"),
  ...forbid("value", OWNED, "subdomain", "hostname"),
  ...forbid("value", WORKLOAD, "restartPolicy"),
  ...forbid("pointer", WORKLOAD, "activeDeadlineSeconds"),
  ...forbid("value", HOST, "hostNetwork", "hostPID", "hostIPC"),
  ...forbid("pointer", NOT_AT_ALL, "shareProcessNamespace", "hostUsers"),
];

const FORBIDDEN_ON_PRIMARY: readonly ForbiddenField[] = [
  ...forbid("value", OWNED, "command", "args", "ports"),
  ...forbid("pointer", OWNED, "readinessProbe", "livenessProbe", "startupProbe", "restartPolicy"),
  ...forbid("value", INTERACTIVE, "stdin", "stdinOnce", "tty"),
];

/** The gateway and the metadata service leave image, pull policy and resources to the user. */
const FORBIDDEN_ON_CLOSED_PRIMARY: readonly ForbiddenField[] = [
  ...FORBIDDEN_ON_PRIMARY,
  ...forbid("value", OWNED, "env", "envFrom", "volumeMounts"),
  ...forbid("pointer", OWNED, "securityContext", "lifecycle"),
  ...forbid("value", OWNED, "workingDir", "terminationMessagePath", "terminationMessagePolicy"),
  ...forbid("value", OWNED, "volumeDevices", "resizePolicy"),
];

export interface ComponentRules {
  /**
   * Accounts that the operator creates for gateways are forbidden. A gateway may run under an account of any name: that
   * of another gateway has no further permissions.
   */
  readonly refusesGatewayAccounts: boolean;
  /** Name of the container that the operator renders. */
  readonly primary: string;
  readonly refusedOnPrimary: readonly ForbiddenField[];
  readonly reservedContainers: readonly string[];
  /** Environment variables of the primary container that the operator sets. */
  readonly reservedEnv: readonly string[];
  /** Paths in the primary container where the operator mounts its own volumes. */
  readonly reservedMountPaths: readonly string[];
  /** Volumes that the primary container's template may not mount. */
  readonly reservedVolumes: readonly string[];
  /** Those of them that hold Secrets: no other container may mount them either. */
  readonly secretVolumes: readonly string[];
  /** Prefixes of volumes of which there is one per signing key: reserved and Secret-backed. */
  readonly secretVolumePrefixes: readonly string[];
}

export const COMPONENT_RULES: Readonly<Record<TemplateComponent, ComponentRules>> = {
  engine: {
    refusesGatewayAccounts: true,
    primary: "engine",
    refusedOnPrimary: FORBIDDEN_ON_PRIMARY,
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
    refusedOnPrimary: FORBIDDEN_ON_CLOSED_PRIMARY,
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
    refusedOnPrimary: FORBIDDEN_ON_CLOSED_PRIMARY,
    reservedContainers: [],
    reservedEnv: [],
    reservedMountPaths: [],
    reservedVolumes: ["config", "postgres-creds", "tmp"],
    secretVolumes: ["postgres-creds"],
    secretVolumePrefixes: [],
  },
};
