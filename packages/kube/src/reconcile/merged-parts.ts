// Which parts of an object server-side apply merges, and which it replaces whole, as the OpenAPI schema of Kubernetes
// says. Paths are written as `Kind.field.field`, without the positions in lists.

const POD_LISTS: Readonly<Record<string, readonly string[]>> = {
  containers: ["name"],
  ephemeralContainers: ["name"],
  hostAliases: ["ip"],
  imagePullSecrets: ["name"],
  initContainers: ["name"],
  resourceClaims: ["name"],
  "resources.claims": ["name"],
  schedulingGates: ["name"],
  topologySpreadConstraints: ["topologyKey", "whenUnsatisfiable"],
  volumes: ["name"],
};

const CONTAINER_LISTS: Readonly<Record<string, readonly string[]>> = {
  env: ["name"],
  ports: ["containerPort", "protocol"],
  "resources.claims": ["name"],
  volumeDevices: ["devicePath"],
  volumeMounts: ["mountPath"],
};

const CONTAINERS = ["containers", "initContainers", "ephemeralContainers"];

/** Where kinds hold the spec of a pod. */
const POD_SPECS = [
  "Pod.spec",
  ...["DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"].map((kind) => `${kind}.spec.template.spec`),
  "CronJob.spec.jobTemplate.spec.template.spec",
];

/**
 * Lists that server-side apply merges entry by entry, with the fields that identify an entry. Entries that others added
 * are kept: a container, a volume, a port of a Service. All other lists belong to one writer, which replaces them.
 */
export const KEYED_LISTS: ReadonlyMap<string, readonly string[]> = new Map([
  ["Service.spec.ports", ["port", "protocol"]],
  ["ServiceAccount.secrets", ["name"]],
  ...POD_SPECS.flatMap((spec) => [
    ...Object.entries(POD_LISTS).map(([list, keys]) => [`${spec}.${list}`, keys] as const),
    ...CONTAINERS.flatMap((containers) =>
      Object.entries(CONTAINER_LISTS).map(([list, keys]) => [`${spec}.${containers}.${list}`, keys] as const),
    ),
  ]),
]);

/** Whether an object belongs to one writer: selectors and references to fields, keys, Secrets and roles. */
export const isReplacedWhole = (path: string): boolean =>
  /(?:[sS]elector|(?:[fF]ield|Key|[sS]ecret|role)Ref)$/.test(path);

/**
 * Immutable in a stored object: it cannot have been edited, and the API server would reject a write. What a webhook
 * added when the object was created is ignored.
 */
export const IMMUTABLE: ReadonlySet<string> = new Set([
  "ClusterRoleBinding.roleRef",
  "DaemonSet.spec.selector",
  "Deployment.spec.selector",
  "Job.spec.selector",
  "ReplicaSet.spec.selector",
  "RoleBinding.roleRef",
  "StatefulSet.spec.selector",
  "StatefulSet.spec.volumeClaimTemplates",
]);
