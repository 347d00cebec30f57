// The combinations of values that the chart is rendered with: the full product of what changes the shape of a release, and single
// cases for everything else.
import type { Values } from "../../harness/helm/helm.ts";

export interface ChartCase {
  readonly name: string;
  readonly values: Values;
  /** Two renders differ: Helm generates a new certificate each time. */
  readonly random?: boolean;
}

const SCOPES: Readonly<Record<string, Values>> = {
  cluster: {},
  namespaced: { watchNamespaces: ["tenant-a", "tenant-b"] },
};

const WEBHOOKS: Readonly<Record<string, Values>> = {
  "no webhooks": { enabled: false },
  "self-managed": {},
  secret: { certSecretName: "webhook-pair", caBundle: "Y2E=" },
  "cert-manager": { certMode: "cert-manager" },
  helm: { certMode: "helm" },
};

const METRICS: Readonly<Record<string, Values>> = {
  "no metrics": { enabled: false },
  "secure metrics": { enabled: true, secure: true },
  "plain metrics": { enabled: true, secure: false, bindAddress: "127.0.0.1:8080" },
};

const PROXY: Readonly<Record<string, boolean>> = { proxy: true, "no proxy": false };

const product = Object.entries(SCOPES).flatMap(([scope, scopeValues]) =>
  Object.entries(WEBHOOKS).flatMap(([mode, webhook]) =>
    Object.entries(METRICS).flatMap(([served, metrics]) =>
      Object.entries(PROXY).map(([transport, apiserverProxyGrant]): ChartCase => {
        const values = { ...scopeValues, webhook, metrics, rbac: { apiserverProxyGrant } };
        const name = [scope, mode, served, transport].join(", ");
        return mode === "helm" ? { name, values, random: true } : { name, values };
      }),
    ),
  ),
);

/** Everything that can be switched on but alerts and dashboards, and every value changed. */
const everything: Values = {
  replicaCount: 3,
  image: { repository: "registry.example.com:5000/firebolt/operator", tag: "v9.9.9", pullPolicy: "Always" },
  imagePullSecrets: [{ name: "registry" }],
  nameOverride: "fb",
  fullnameOverride: "firebolt",
  extraLabels: { team: "data", "app.kubernetes.io/part-of": "firebolt" },
  extraAnnotations: { "example.com/owner": "data" },
  podLabels: { tier: "control" },
  podAnnotations: { "example.com/scrape": "false" },
  serviceAccount: {
    annotations: { "example.com/role": "none" },
    labels: { "example.com/tier": "control" },
    name: "manager",
  },
  rbac: { aggregateRoles: true },
  metrics: { readerRole: { create: true } },
  webhook: {
    port: 10250,
    webhookConfigurationAnnotations: { "example.com/ca": "yes" },
    mutatingWebhookConfiguration: { failurePolicy: "Fail", timeoutSeconds: 5 },
    validatingWebhookConfiguration: { failurePolicy: "Ignore", timeoutSeconds: 30 },
    namespaceSelector: { matchLabels: { firebolt: "yes" } },
    objectSelector: { matchExpressions: [{ key: "skip", operator: "DoesNotExist" }] },
  },
  healthProbeBindAddress: "[::]:9081",
  livenessProbe: { initialDelaySeconds: 1, periodSeconds: 2, timeoutSeconds: 3, failureThreshold: 4 },
  readinessProbe: { initialDelaySeconds: 0, periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 1 },
  watchNamespaces: ["tenant-a"],
  watchLabelSelector: "!example.com/private,tier in (gold, silver)",
  engineResourceBounds: { maxCPU: 32, maxMemory: "256Gi", maxEphemeralStorage: "1.5Ti" },
  defaultImages: {
    engine: "registry.example.com/engine:1",
    metadata: "registry.example.com/metadata:1",
    envoy: "registry.example.com/envoy:1",
    postgres: "registry.example.com/postgres:1",
    engineWeb: "registry.example.com/web:1",
  },
  metadata: { configFormat: "yaml" },
  wakeAgent: { mode: "demand" },
  gatewayWakeClusterRole: { create: true, name: "firebolt:gateways" },
  podSecurity: { componentSeccomp: "none", componentUserIds: false, engineSeccomp: "Localhost:profiles/engine.json" },
  controllers: { concurrency: { engine: 24, instance: 4, engineclass: 1 } },
  kubeApi: { qps: 12.5, burst: 40 },
  logging: { encoder: "console", level: 3, stacktraceLevel: "panic" },
  resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } },
  updateStrategy: { type: "Recreate" },
  revisionHistoryLimit: 2,
  deploymentAnnotations: { "example.com/reload": "yes" },
  priorityClassName: "system-cluster-critical",
  nodeSelector: { "kubernetes.io/os": "linux" },
  tolerations: [{ key: "example.com/control", operator: "Exists", effect: "NoSchedule" }],
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { tier: "control" } } },
      ],
    },
  },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" },
  ],
  dnsPolicy: "ClusterFirst",
  dnsConfig: { options: [{ name: "ndots", value: "2" }] },
  hostAliases: [{ ip: "10.0.0.7", hostnames: ["registry.example.com"] }],
  telemetry: { enabled: true, endpoint: "https://telemetry.example.com" },
  additionalArgs: ["--shutdown-timeout=5s"],
  additionalEnv: [{ name: "NODE_OPTIONS", value: "--max-old-space-size=512" }],
  extraVolumes: [{ name: "scratch", emptyDir: {} }],
  extraVolumeMounts: [{ name: "scratch", mountPath: "/scratch" }],
  podDisruptionBudget: { enabled: true, minAvailable: "50%" },
  networkPolicy: {
    enabled: true,
    apiServerPorts: [6443],
    metricsFrom: [{ namespaceSelector: { matchLabels: { monitoring: "yes" } } }],
    extraEgress: [{ ports: [{ port: 8080, protocol: "TCP" }] }],
  },
  podMonitor: {
    allNamespaces: true,
    engines: { enabled: true, interval: "1m30s", labels: { release: "prometheus" }, scrapeTimeout: "1m" },
    gateway: { enabled: true, labels: { release: "prometheus" } },
  },
  serviceMonitor: {
    operator: {
      enabled: true,
      labels: { release: "prometheus" },
      relabelings: [{ action: "labeldrop", regex: "pod" }],
      metricRelabelings: [{ action: "drop", sourceLabels: ["__name__"], regex: "nodejs_.*" }],
      bearerTokenSecret: { name: "scraper" },
    },
  },
};

const single: readonly ChartCase[] = [
  { name: "everything", values: everything },
  {
    name: "alerts and dashboards",
    values: {
      prometheusRule: { enabled: true, labels: { release: "prometheus" } },
      grafanaDashboards: { enabled: true, annotations: { "grafana.example.com/folder": "Firebolt" } },
    },
  },
  { name: "development logs", values: { logging: { development: true } } },
  { name: "image by digest", values: { image: { digest: `sha256:${"a".repeat(64)}` } } },
  { name: "no roles", values: { rbac: { create: false }, serviceAccount: { create: false } } },
  { name: "one replica without a lease", values: { leaderElection: { enabled: false } } },
  { name: "ids that the cluster chooses", values: { openshift: "always", securityContext: { runAsUser: 7 } } },
  { name: "a budget of its own", values: { replicaCount: 2, podDisruptionBudget: { enabled: true } } },
  {
    name: "objects of one's own",
    values: {
      extraObjects: [
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "extra", namespace: "{{ .Release.Namespace }}" } },
      ],
    },
  },
  { name: "no wake agent", values: { wakeAgent: { enabled: false } } },
  { name: "demand", values: { wakeAgent: { mode: "demand" }, networkPolicy: { enabled: true } } },
  { name: "demand without an agent", values: { wakeAgent: { enabled: false, mode: "demand" } } },
  { name: "one role for all gateways", values: { gatewayWakeClusterRole: { create: true } } },
  {
    name: "one role for all gateways, demand",
    values: { gatewayWakeClusterRole: { create: true }, wakeAgent: { mode: "demand" } },
  },
  {
    name: "one role for gateways without agents",
    values: { gatewayWakeClusterRole: { create: true }, wakeAgent: { enabled: false } },
  },
  {
    name: "one role for gateways without agents, demand",
    values: { gatewayWakeClusterRole: { create: true }, wakeAgent: { enabled: false, mode: "demand" } },
  },
  { name: "a gateway role of one's own", values: { gatewayWakeClusterRole: { name: "platform:gateways" } } },
  { name: "gateways without seccomp", values: { podSecurity: { componentSeccomp: "none" } } },
  {
    name: "own certificate volume",
    values: {
      webhook: { certMode: "secret", certDir: "/certs", caBundle: "Y2E=" },
      extraVolumes: [{ name: "pair", emptyDir: {} }],
      extraVolumeMounts: [{ name: "pair", mountPath: "/certs" }],
    },
  },
  {
    name: "an issuer of one's own",
    values: {
      webhook: { certMode: "cert-manager", certManager: { issuerRef: { name: "corp", kind: "ClusterIssuer" } } },
    },
  },
  { name: "only the mutating webhook", values: { webhook: { validatingWebhookConfiguration: { enabled: false } } } },
  { name: "only the validating webhooks", values: { webhook: { mutatingWebhookConfiguration: { enabled: false } } } },
  { name: "a very long name", values: { fullnameOverride: "f".repeat(63), networkPolicy: { enabled: true } } },
  {
    name: "monitors in watched namespaces",
    values: { watchNamespaces: ["tenant-a"], podMonitor: { engines: { enabled: true }, gateway: { enabled: true } } },
  },
  {
    name: "plain metrics with a monitor",
    values: { metrics: { secure: false }, serviceMonitor: { operator: { enabled: true } } },
  },
  {
    name: "a tenant without cluster rights",
    values: { watchNamespaces: ["tenant-a", "tenant-b"], metrics: { secure: false }, webhook: { enabled: false } },
  },
];

export const CHART_CASES: readonly ChartCase[] = [...product, ...single];

export function chartCase(name: string): Values {
  const found = CHART_CASES.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no case ${name}`);
  return found.values;
}
