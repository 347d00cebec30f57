// The invalid manifests that the CRDs themselves must refuse on creation, each
// with the fields that the answer must name. Data only.
import type { KindName } from "./manifests.ts";

export interface InvalidManifest {
  readonly kind: KindName;
  readonly what: string;
  /** Merged over the smallest valid spec; `whole` replaces it. */
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly whole?: { readonly spec?: unknown };
  /** The refused fields, each with what its message must say. */
  readonly refuses: Readonly<Record<string, RegExp>>;
}

const REQUIRED = /Required value/;
const DUPLICATE = /Duplicate value/;
const QUANTITY = /must be a quantity, such as 20Gi.*without a B/;
/** In a pod template, whose schema is Kubernetes' own. */
const PATTERN = /should match .*\[KMGTPE\]i/;
const container = (fields: object) => ({ spec: { containers: [fields] } });
const storage = (backend: object) => ({ storage: backend });
const autoStop = (fields: object) => ({ autoStop: { activeReplicas: 1, ...fields } });
const window = (fields: object) => autoStop({ schedule: [fields] });
const postgres = (fields: object) => ({
  metadata: { postgres: { host: "pg", database: "meta", credentialsSecretRef: { name: "login" }, ...fields } },
});
const local = (fields: object) => ({
  auth: { local: { admin: { password: { name: "admin", key: "p" } }, ...fields } },
});
const oidc = (fields: object) => ({ auth: { oidc: fields } });
const provider = { name: "corp", discoveryURL: "https://id.example.com", usernameMapping: "{{ email }}" };
const CERT_MANAGER = { issuerRef: { name: "ca" } };

const ENGINE_ROWS: readonly Omit<InvalidManifest, "kind">[] = [
  {
    what: "an empty spec",
    whole: { spec: {} },
    refuses: { "spec.instanceRef": REQUIRED, "spec.replicas": REQUIRED },
  },
  {
    what: "an empty instanceRef",
    spec: { instanceRef: "" },
    refuses: { "spec.instanceRef": /at least 1 char/ },
  },
  {
    what: "an empty engineClassRef",
    spec: { engineClassRef: "" },
    refuses: { "spec.engineClassRef": /at least 1 char/ },
  },
  {
    what: "negative replicas",
    spec: { replicas: -1 },
    refuses: { "spec.replicas": /greater than or equal to 0/ },
  },
  {
    what: "replicas as text",
    spec: { replicas: "2" },
    refuses: { "spec.replicas": /must be of type integer/ },
  },
  {
    what: "rollout rolling",
    spec: { rollout: "rolling" },
    refuses: { "spec.rollout": /"graceful", "recreate"/ },
  },
  { what: "an empty rollout", spec: { rollout: "" }, refuses: { "spec.rollout": /"graceful", "recreate"/ } },
  {
    what: "two storage backends",
    spec: storage({ emptyDir: {}, hostPath: { path: "/d" } }),
    refuses: { "spec.storage": /persistentVolumeClaim, emptyDir and hostPath exclude each other/ },
  },
  {
    what: "a relative hostPath",
    spec: storage({ hostPath: { path: "data" } }),
    refuses: { "spec.storage.hostPath.path": /should match '\^\/\.\*'/ },
  },
  {
    what: "a hostPath without path",
    spec: storage({ hostPath: {} }),
    refuses: { "spec.storage.hostPath.path": REQUIRED },
  },
  {
    what: "emptyDir medium HugePages",
    spec: storage({ emptyDir: { medium: "HugePages" } }),
    refuses: { "spec.storage.emptyDir.medium": /"", "Memory"/ },
  },
  {
    what: "a claim size that is no quantity",
    spec: storage({ persistentVolumeClaim: { size: "lots" } }),
    refuses: { "spec.storage.persistentVolumeClaim.size": QUANTITY },
  },
  {
    what: "auto-stop without activeReplicas",
    spec: { autoStop: { enabled: true } },
    refuses: { "spec.autoStop.activeReplicas": REQUIRED },
  },
  {
    what: "activeReplicas 0",
    spec: { autoStop: { activeReplicas: 0 } },
    refuses: { "spec.autoStop.activeReplicas": /greater than or equal to 1/ },
  },
  {
    what: "more idle than active replicas",
    spec: autoStop({ idleReplicas: 2 }),
    refuses: { "spec.autoStop.idleReplicas": /activeReplicas must not be below idleReplicas/ },
  },
  {
    what: "a one-digit hour",
    spec: window({ start: "8:00", end: "09:00" }),
    refuses: { "spec.autoStop.schedule[0].start": /should match '\^\(\[01\]\\d\|2\[0-3\]\)/ },
  },
  {
    what: "hour 24",
    spec: window({ start: "08:00", end: "24:00" }),
    refuses: { "spec.autoStop.schedule[0].end": /should match '\^\(\[01\]\\d\|2\[0-3\]\)/ },
  },
  {
    what: "a window without end",
    spec: window({ start: "08:00" }),
    refuses: { "spec.autoStop.schedule[0].end": REQUIRED },
  },
  {
    what: "a day written out",
    spec: window({ start: "08:00", end: "09:00", days: ["Monday"] }),
    refuses: { "spec.autoStop.schedule[0].days[0]": /"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"/ },
  },
  {
    what: "a duration in days",
    spec: autoStop({ idleTimeout: "1d" }),
    refuses: { "spec.autoStop.idleTimeout": /idleTimeout must be a Go duration.*there is no day unit/ },
  },
  {
    what: "a duration without unit",
    spec: { drainCheckInterval: "10" },
    refuses: { "spec.drainCheckInterval": /drainCheckInterval must be a Go duration.*needs a unit/ },
  },
  {
    what: "a configuration that is a list",
    spec: { customEngineConfig: ["a"] },
    refuses: { "spec.customEngineConfig": /must be of type object/ },
  },
];

const TEMPLATE_ROWS: readonly (Omit<InvalidManifest, "kind" | "spec"> & { readonly template: object })[] = [
  {
    what: "two containers of one name",
    template: { spec: { containers: [{ name: "engine" }, { name: "engine" }] } },
    refuses: { "spec.template.spec.containers[1]": DUPLICATE },
  },
  {
    what: "an environment variable twice",
    template: container({ name: "engine", env: [{ name: "FOO" }, { name: "FOO", value: "x" }] }),
    refuses: { "spec.template.spec.containers[0].env[1]": DUPLICATE },
  },
  {
    what: "a container without name",
    template: container({ image: "x" }),
    refuses: { "spec.template.spec.containers[0].name": REQUIRED },
  },
  {
    what: "a limit that is no quantity",
    template: container({ name: "engine", resources: { limits: { cpu: "two" } } }),
    refuses: { "spec.template.spec.containers[0].resources.limits.cpu": PATTERN },
  },
];

const CLASS_ROWS: readonly Omit<InvalidManifest, "kind">[] = [
  {
    what: "no template",
    whole: { spec: { rollout: "graceful" } },
    refuses: { "spec.template": REQUIRED },
  },
  {
    what: "two storage backends",
    spec: storage({ emptyDir: {}, persistentVolumeClaim: {} }),
    refuses: { "spec.storage": /exclude each other/ },
  },
];

const builtIn = (builtInPostgres: object) => ({ metadata: { builtInPostgres } });
const DATABASE = "spec.metadata.builtInPostgres";

const INSTANCE_ROWS: readonly Omit<InvalidManifest, "kind">[] = [
  {
    what: "a volume of the database in GB",
    spec: builtIn({ storage: { size: "10GB" } }),
    refuses: { [`${DATABASE}.storage.size`]: QUANTITY },
  },
  {
    what: "memory of the database in MB",
    spec: builtIn({ resources: { requests: { cpu: 1, memory: "512MB" } } }),
    refuses: { [`${DATABASE}.resources.requests`]: /memory must be a quantity, such as 20Gi/ },
  },
  { what: "no spec", whole: {}, refuses: { spec: REQUIRED } },
  { what: "no metadata", whole: { spec: { gateway: {} } }, refuses: { "spec.metadata": REQUIRED } },
  {
    what: "two metadata replicas",
    spec: { metadata: { replicas: 2 } },
    refuses: { "spec.metadata.replicas": /metadata replicas must be 1/ },
  },
  {
    what: "no metadata replica",
    spec: { metadata: { replicas: 0 } },
    refuses: { "spec.metadata.replicas": /metadata replicas must be 1/ },
  },
  {
    what: "port 70000",
    spec: { gateway: { metricsPort: 70_000 } },
    refuses: { "spec.gateway.metricsPort": /less than or equal to 65535/ },
  },
  {
    what: "port 0",
    spec: { gateway: { metricsPort: 0 } },
    refuses: { "spec.gateway.metricsPort": /greater than or equal to 1/ },
  },
  ...[8080, 9901, 9902, 9903, 9904].map((metricsPort) => ({
    what: `port ${metricsPort}, which the gateway needs itself`,
    spec: { gateway: { metricsPort } },
    refuses: { "spec.gateway.metricsPort": /the gateway itself listens on .*: choose another port/ },
  })),
  {
    what: "an unknown scrape mode",
    spec: { metricScrapeMode: "Direct" },
    refuses: { "spec.metricScrapeMode": /"PodIP", "ApiserverProxy"/ },
  },
  {
    what: "PostgreSQL without host",
    spec: { metadata: { postgres: { database: "meta", credentialsSecretRef: { name: "login" } } } },
    refuses: { "spec.metadata.postgres.host": REQUIRED },
  },
  {
    what: "an underscore in the host",
    spec: postgres({ host: "my_db" }),
    refuses: { "spec.metadata.postgres.host": /should match '\^\[A-Za-z0-9/ },
  },
  {
    what: "a slash in the database",
    spec: postgres({ database: "a/b" }),
    refuses: { "spec.metadata.postgres.database": /should match '\^\[A-Za-z0-9_/ },
  },
  {
    what: "a symmetric signing algorithm",
    spec: local({ signingAlgorithm: "HS256" }),
    refuses: { "spec.auth.local.signingAlgorithm": /"RS256", "RS384", "RS512", "ES256", "ES384", "ES512"/ },
  },
  {
    what: "a rotation in days",
    spec: local({ signingKeys: { certManager: CERT_MANAGER, rotationInterval: "30d" } }),
    refuses: {
      "spec.auth.local.signingKeys.rotationInterval": /rotationInterval must be a Go duration.*there is no day unit/,
    },
  },
  {
    what: "a duration in words",
    spec: local({ tokenExpiry: "1 hour" }),
    refuses: { "spec.auth.local.tokenExpiry": /should match .*h\|d/ },
  },
  {
    what: "no provider",
    spec: oidc({ providers: [] }),
    refuses: { "spec.auth.oidc.providers": /at least 1 item/ },
  },
  {
    what: "a provider name with an underscore in front",
    spec: oidc({ providers: [{ ...provider, name: "_corp" }] }),
    refuses: { "spec.auth.oidc.providers[0].name": /should match '\^\[\^_\]/ },
  },
  {
    what: "discovery over http",
    spec: oidc({ providers: [{ ...provider, discoveryURL: "http://id.example.com" }] }),
    refuses: { "spec.auth.oidc.providers[0].discoveryURL": /should match '\^https:/ },
  },
  {
    what: "an issuer of an unknown kind",
    spec: { tls: { gateway: { certManager: { issuerRef: { name: "ca", kind: "Vault" } } } } },
    refuses: { "spec.tls.gateway.certManager.issuerRef.kind": /"Issuer", "ClusterIssuer"/ },
  },
];

/** In the order of the kinds. */
export const INVALID_MANIFESTS: readonly InvalidManifest[] = [
  ...ENGINE_ROWS.map((row) => ({ ...row, kind: "FireboltEngine" as const })),
  ...TEMPLATE_ROWS.flatMap(({ template, ...row }) => [
    { ...row, kind: "FireboltEngine" as const, spec: { template } },
    { ...row, kind: "FireboltEngineClass" as const, spec: { template } },
  ]),
  ...CLASS_ROWS.map((row) => ({ ...row, kind: "FireboltEngineClass" as const })),
  ...INSTANCE_ROWS.map((row) => ({ ...row, kind: "FireboltInstance" as const })),
];
