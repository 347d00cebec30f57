// The invalid manifests that a webhook must deny, each with the expected message. Rows of features that are not
// available yet never reach the webhook: the CRD rejects them first. Data only.
import type { KindName } from "../../harness/fixtures/manifests.ts";

export interface RefusedManifest {
  readonly kind: KindName;
  readonly what: string;
  /** Merged over the smallest valid spec. */
  readonly spec: Readonly<Record<string, unknown>>;
  /** The webhook's whole message. */
  readonly says: RegExp;
  /** Default 403. */
  readonly code?: 400;
  /** The feature cannot be enabled yet: the CRD rejects it before the webhook is called. */
  readonly unavailable?: true;
}

type TemplateRow = Omit<RefusedManifest, "kind" | "spec"> & { readonly template: object };

const engineContainer = (fields: object) => ({ spec: { containers: [{ name: "engine", ...fields }] } });
const podSpec = (fields: object) => ({ spec: fields });
const mount = (name: string) => ({ volumeMounts: [{ name, mountPath: "/m" }] });
const forbidden = (path: string, detail: string) => new RegExp(`^spec\\.template\\.${path}: Forbidden: .*${detail}`);
const OWNED = "operator-owned";

const TEMPLATE_ROWS: readonly TemplateRow[] = [
  {
    what: "a reserved label",
    template: { metadata: { labels: { "firebolt.io/team": "a" } } },
    says: forbidden("metadata\\.labels\\[firebolt\\.io/team\\]", "reserved for the operator"),
  },
  {
    what: "a reserved annotation",
    template: { metadata: { annotations: { "firebolt.io/config-hash": "a" } } },
    says: forbidden("metadata\\.annotations\\[firebolt\\.io/config-hash\\]", "reserved for the operator"),
  },
  {
    what: "a label that is a number",
    template: { metadata: { labels: { tier: 1 } } },
    says: /^spec\.template\.metadata\.labels\[tier\]: Invalid value: 1: must be a string$/,
    code: 400,
  },
  {
    what: "a name",
    template: { metadata: { name: "p" } },
    says: forbidden("metadata\\.name", "no effect.*remove it"),
  },
  {
    what: "finalizers",
    template: { metadata: { finalizers: ["a/b"] } },
    says: forbidden("metadata\\.finalizers", "no effect.*remove it"),
  },
  {
    what: "a grace period of zero",
    template: podSpec({ terminationGracePeriodSeconds: 0 }),
    says: forbidden("spec\\.terminationGracePeriodSeconds", OWNED),
  },
  { what: "a hostname", template: podSpec({ hostname: "h" }), says: forbidden("spec\\.hostname", OWNED) },
  { what: "a subdomain", template: podSpec({ subdomain: "h" }), says: forbidden("spec\\.subdomain", OWNED) },
  {
    what: "a restart policy",
    template: podSpec({ restartPolicy: "Always" }),
    says: forbidden("spec\\.restartPolicy", "fixed by the workload controller"),
  },
  ...["hostNetwork", "hostPID", "hostIPC"].map((field) => ({
    what: field,
    template: podSpec({ [field]: true }),
    says: forbidden(`spec\\.${field}`, "not allowed"),
  })),
  {
    what: "shareProcessNamespace",
    template: podSpec({ shareProcessNamespace: false }),
    says: forbidden("spec\\.shareProcessNamespace", "cannot be set to any value"),
  },
  ...Object.entries({
    command: ["x"],
    args: ["x"],
    ports: [{ containerPort: 1 }],
    readinessProbe: { tcpSocket: { port: 1 } },
    livenessProbe: { tcpSocket: { port: 1 } },
    startupProbe: { tcpSocket: { port: 1 } },
  }).map(([field, value]) => ({
    what: `${field} of the engine container`,
    template: engineContainer({ [field]: value }),
    says: forbidden(`spec\\.containers\\[0\\]\\.${field}`, `engine container is ${OWNED}`),
  })),
  {
    what: "a terminal",
    template: engineContainer({ tty: true }),
    says: forbidden("spec\\.containers\\[0\\]\\.tty", "interactive use only"),
  },
  {
    what: "POD_INDEX",
    template: engineContainer({ env: [{ name: "A" }, { name: "POD_INDEX", value: "1" }] }),
    says: forbidden("spec\\.containers\\[0\\]\\.env\\[1\\]\\.name", "injected by the operator; choose another name"),
  },
  ...["data", "auth-signing-x"].map((volume) => ({
    what: `a mount of ${volume}`,
    template: engineContainer(mount(volume)),
    says: forbidden("spec\\.containers\\[0\\]\\.volumeMounts\\[0\\]\\.name", `"${volume}" is reserved`),
  })),
  {
    what: "an init container with the engine's key",
    template: podSpec({ initContainers: [{ name: "init", ...mount("tls-engine") }] }),
    says: forbidden("spec\\.initContainers\\[0\\]\\.volumeMounts\\[0\\]\\.name", "not mountable by extra containers"),
  },
  {
    what: "an init container named engine",
    template: podSpec({ initContainers: [{ name: "engine" }] }),
    says: forbidden("spec\\.initContainers\\[0\\]\\.name", "collides with the engine container"),
  },
  ...["containers", "initContainers"].map((list) => ({
    what: `engine-web in ${list}`,
    template: podSpec({ [list]: [{ name: "engine-web" }] }),
    says: forbidden(`spec\\.${list}\\[0\\]\\.name`, '"engine-web" is reserved'),
  })),
];

const ENGINE_ROWS: readonly Omit<RefusedManifest, "kind">[] = [
  {
    what: "a class that is not there",
    spec: { engineClassRef: "missing" },
    says: /^spec\.engineClassRef: Not found: "missing"/,
  },
  {
    what: "more cpu than the bound",
    spec: { template: engineContainer({ resources: { requests: { cpu: "64" } } }) },
    says: /^spec\.template\.spec\.containers\[engine\]\.resources\.requests\[cpu\]: Invalid value: "64": exceeds the maximum 32$/,
  },
];

const CERT_MANAGER = { issuerRef: { name: "ca", kind: "ClusterIssuer" }, algorithm: "ECDSA", size: 384 };
const LOCAL = {
  passwordLogin: "admin_only",
  admin: { name: "firebolt", password: { name: "admin", key: "p" } },
  signingAlgorithm: "ES384",
  signingKeys: { certManager: CERT_MANAGER },
};
const auth = (local: object, more: object = {}) => ({
  auth: { enabled: true, local: { ...LOCAL, ...local }, ...more },
});
const keys = (fields: object) => auth({ signingKeys: { certManager: CERT_MANAGER, ...fields } });
const key = (fields: object, more: object = {}) =>
  auth({ signingKeys: { certManager: { ...CERT_MANAGER, ...fields } }, ...more });
const provider = (name: string, usernameMapping: string) => ({
  name,
  usernameMapping,
  discoveryURL: "https://id.example.com",
});
const oidc = (...providers: readonly object[]) => auth({}, { oidc: { providers } });
const tls = (listener: "gateway" | "engine", fields: object) => ({
  tls: { [listener]: { enabled: false, ...fields } },
});
const secret = (name: string) => ({ name });
const unavailable = { unavailable: true } as const;
const gatewayTemplate = (fields: object) => ({ gateway: { template: podSpec(fields) } });
const metadataTemplate = (fields: object) => ({ metadata: { template: podSpec(fields) } });

const INSTANCE_ROWS: readonly Omit<RefusedManifest, "kind">[] = [
  {
    what: "credentials without a Secret",
    spec: { metadata: { postgres: { host: "pg", database: "d", credentialsSecretRef: {} } } },
    says: /^spec\.metadata\.postgres\.credentialsSecretRef\.name: Required value: name the Secret/,
  },
  {
    what: "local settings while authentication is off",
    spec: { auth: { enabled: false, local: LOCAL } },
    says: /^spec\.auth\.local: Forbidden: local is not allowed while authentication is disabled$/,
  },
  {
    what: "authentication without signing keys",
    spec: { auth: { enabled: true, local: { ...LOCAL, signingKeys: undefined } } },
    says: /^spec\.auth\.local\.signingKeys: Required value: .*engines must share/,
    ...unavailable,
  },
  {
    what: "an admin password without Secret",
    spec: auth({ admin: { name: "firebolt", password: { name: "", key: "p" } } }),
    says: /^spec\.auth\.local\.admin\.password\.name: Required value: name the Secret.*never generates/,
    ...unavailable,
  },
  {
    what: "RS256 with an ECDSA key",
    spec: auth({ signingAlgorithm: "RS256" }),
    says: /^spec\.auth\.local\.signingAlgorithm: Invalid value: "RS256": RS256 needs a key of algorithm RSA/,
    ...unavailable,
  },
  {
    what: "ES256 with size 384",
    spec: auth({ signingAlgorithm: "ES256" }),
    says: /^spec\.auth\.local\.signingKeys\.certManager\.size: Invalid value: 384: the size must be 256 for ES256$/,
    ...unavailable,
  },
  {
    what: "an RSA key of 3072 bits",
    spec: key({ algorithm: "RSA", size: 3072 }, { signingAlgorithm: "RS256" }),
    says: /^spec\.auth\.local\.signingKeys\.certManager\.size: Invalid value: 3072: .*2048, 4096 or 8192$/,
    ...unavailable,
  },
  {
    what: "rotation alone",
    spec: keys({ rotationInterval: "720h" }),
    says: /^spec\.auth\.local\.signingKeys\.retainDuration: Required value: retainDuration is required/,
    ...unavailable,
  },
  {
    what: "retention alone",
    spec: keys({ retainDuration: "48h" }),
    says: /^spec\.auth\.local\.signingKeys\.retainDuration: Forbidden: retainDuration needs rotationInterval/,
    ...unavailable,
  },
  {
    what: "retention below the floor",
    spec: keys({ rotationInterval: "720h", retainDuration: "24h" }),
    says: /retainDuration: Invalid value: "24h": must be at least 24h0m30s: maxTokenAge 24h0m0s plus clockSkewTolerance 30s$/,
    ...unavailable,
  },
  {
    what: "a negative token age",
    spec: auth({ maxTokenAge: "-1d" }),
    says: /^spec\.auth\.local\.maxTokenAge: Invalid value: "-1d": must be positive$/,
    ...unavailable,
  },
  {
    what: "two providers of one name",
    spec: oidc(provider("corp", "{{ iss }}-{{ sub }}"), provider("corp", "{{iss}}")),
    says: /^spec\.auth\.oidc\.providers\[1\]\.name: Duplicate value: "corp"$/,
    ...unavailable,
  },
  {
    what: "two providers that do not name the issuer",
    spec: oidc(provider("a", "{{ email }}"), provider("b", "{{ iss }}")),
    says: /^spec\.auth\.oidc\.providers\[0\]\.usernameMapping: Invalid value: .*iss claim/,
    ...unavailable,
  },
  {
    what: "a mapping to the administrator",
    spec: oidc(provider("a", " firebolt ")),
    says: /usernameMapping: Invalid value: " firebolt ": may not resolve to the admin user "firebolt"$/,
    ...unavailable,
  },
  {
    what: "an unknown preferred server",
    spec: auth({}, { preferredAuthorizationServer: "okta" }),
    says: /^spec\.auth\.preferredAuthorizationServer: Invalid value: "okta": must be _local or .*configured provider$/,
    ...unavailable,
  },
  {
    what: "TLS on engines without a certificate",
    spec: tls("engine", { enabled: true }),
    says: /^spec\.tls\.engine: Required value: a certificate source is required/,
    ...unavailable,
  },
  {
    what: "a Secret for engines",
    spec: tls("engine", { secretRef: secret("s") }),
    says: /^spec\.tls\.engine\.secretRef: Forbidden: .*not supported on engines; use certManager$/,
  },
  {
    what: "a client CA for engines",
    spec: tls("engine", { clientCASecretRef: secret("c") }),
    says: /spec\.tls\.engine\.clientCASecretRef: Forbidden: mutual TLS is possible on the gateway only/,
  },
  {
    what: "two certificate sources",
    spec: tls("gateway", { enabled: true, certManager: CERT_MANAGER, secretRef: secret("s") }),
    says: /^spec\.tls\.gateway\.secretRef: Forbidden: exactly one of certManager and secretRef/,
    ...unavailable,
  },
  {
    what: "a Secret without a name",
    spec: tls("gateway", { enabled: true, secretRef: {} }),
    says: /^spec\.tls\.gateway\.secretRef\.name: Required value: name the Secret$/,
    ...unavailable,
  },
  {
    what: "a client CA without TLS",
    spec: tls("gateway", { clientCASecretRef: secret("c") }),
    says: /^spec\.tls\.gateway\.clientCASecretRef: Forbidden: .*needs enabled: true; otherwise clients go unverified$/,
  },
  {
    what: "a revocation list without a client CA",
    spec: tls("gateway", { crlSecretRef: secret("c") }),
    says: /spec\.tls\.gateway\.crlSecretRef: Forbidden: crlSecretRef needs clientCASecretRef/,
  },
  {
    what: "a Secret of the operator's",
    spec: tls("gateway", { secretRef: secret("x-auth-signing") }),
    says: /^spec\.tls\.gateway\.secretRef: Forbidden: Secret "x-auth-signing" is managed by the operator/,
  },
  ...Object.entries({
    env: [{ name: "A" }],
    lifecycle: { preStop: { sleep: { seconds: 1 } } },
    securityContext: { runAsUser: 1 },
  }).map(([field, value]) => ({
    what: `${field} of the envoy container`,
    spec: gatewayTemplate({ containers: [{ name: "envoy", [field]: value }] }),
    says: new RegExp(`^spec\\.gateway\\.template\\.spec\\.containers\\[0\\]\\.${field}: Forbidden: .*${OWNED}`),
  })),
  {
    what: "a sidecar with the gateway's key",
    spec: gatewayTemplate({ containers: [{ name: "side", ...mount("tls-gateway") }] }),
    says: /^spec\.gateway\.template\.spec\.containers\[0\]\.volumeMounts\[0\]\.name: Forbidden: .*not mountable by extra/,
  },
  {
    what: "mounts of the metadata container",
    spec: metadataTemplate({ containers: [{ name: "metadata", ...mount("mine") }] }),
    says: /^spec\.metadata\.template\.spec\.containers\[0\]\.volumeMounts: Forbidden: .*operator-owned/,
  },
  {
    what: "an init container named metadata",
    spec: metadataTemplate({ initContainers: [{ name: "metadata" }] }),
    says: /^spec\.metadata\.template\.spec\.initContainers\[0\]\.name: Forbidden: collides with the metadata container/,
  },
  {
    what: "a sidecar named wake-agent",
    spec: gatewayTemplate({ containers: [{ name: "wake-agent" }] }),
    says: /^spec\.gateway\.template\.spec\.containers\[0\]\.name: Forbidden: .*"wake-agent" is reserved/,
  },
];

/** What needs other objects to be there is tested one by one (test/admission/table.integration.test.ts). */
export const REFUSED_BY_WEBHOOK: readonly RefusedManifest[] = [
  ...TEMPLATE_ROWS.flatMap(({ template, ...row }) => [
    { ...row, kind: "FireboltEngine" as const, spec: { template } },
    { ...row, kind: "FireboltEngineClass" as const, spec: { template } },
  ]),
  ...ENGINE_ROWS.map((row) => ({ ...row, kind: "FireboltEngine" as const })),
  ...INSTANCE_ROWS.map((row) => ({ ...row, kind: "FireboltInstance" as const })),
];
