// A pod template that uses everything: every volume source, every kind of probe, hook and variable, every scheduling field. Half of
// it is for a class, half for an engine. Fields are left as bare as they may be, so that the API server has much to fill in.
import type { V1Container, V1Probe, V1Volume } from "../../src/api/generated/kubernetes.ts";
import type { PodTemplateFragment } from "../../src/api/pod-template.ts";

const secretRef = { name: "credentials" };

export const EVERY_VOLUME: readonly V1Volume[] = [
  { name: "aws", awsElasticBlockStore: { volumeID: "vol-1", partition: 0, readOnly: false } },
  { name: "azure-disk", azureDisk: { diskName: "d", diskURI: "https://blob.example/d.vhd" } },
  { name: "azure-file", azureFile: { secretName: "s", shareName: "share" } },
  { name: "cephfs", cephfs: { monitors: ["m1:6789"], secretRef } },
  { name: "cinder", cinder: { volumeID: "v" } },
  { name: "config-map", configMap: { name: "c", items: [{ key: "k", path: "p" }] } },
  { name: "csi", csi: { driver: "d.example.com", volumeAttributes: { a: "" }, nodePublishSecretRef: secretRef } },
  {
    name: "downward",
    downwardAPI: {
      items: [
        { path: "labels", fieldRef: { fieldPath: "metadata.labels" } },
        { path: "cpu", resourceFieldRef: { containerName: "engine", resource: "limits.cpu" } },
        {
          path: "mem",
          mode: 0o400,
          resourceFieldRef: { containerName: "engine", resource: "limits.memory", divisor: "1024Ki" },
        },
      ],
    },
  },
  { name: "empty", emptyDir: {} },
  { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "0.5Gi" } },
  {
    name: "ephemeral",
    ephemeral: {
      volumeClaimTemplate: {
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1.5Gi" } }, storageClassName: "" },
      },
    },
  },
  { name: "fc", fc: { targetWWNs: ["50060e801049cfd1"], lun: 0 } },
  { name: "flex", flexVolume: { driver: "example/driver", options: { o: "v" } } },
  { name: "flocker", flocker: { datasetName: "d" } },
  { name: "gce", gcePersistentDisk: { pdName: "pd" } },
  { name: "git", gitRepo: { repository: "https://git.example/r.git" } },
  { name: "gluster", glusterfs: { endpoints: "e", path: "p" } },
  { name: "host", hostPath: { path: "/h" } },
  { name: "image", image: { reference: "registry.example:5000/artifact" } },
  { name: "iscsi", iscsi: { targetPortal: "10.0.2.15:3260", iqn: "iqn.2015-02.example.com:test", lun: 0 } },
  { name: "nfs", nfs: { server: "s", path: "/p" } },
  { name: "claim", persistentVolumeClaim: { claimName: "c" } },
  { name: "photon", photonPersistentDisk: { pdID: "p" } },
  { name: "portworx", portworxVolume: { volumeID: "v" } },
  {
    name: "projected",
    projected: {
      sources: [
        { secret: { name: "s", items: [{ key: "k", path: "s", mode: 0o400 }] } },
        { configMap: { name: "c", optional: true } },
        { downwardAPI: { items: [{ path: "ns", fieldRef: { fieldPath: "metadata.namespace" } }] } },
        { serviceAccountToken: { path: "token" } },
        { serviceAccountToken: { path: "vault", audience: "vault", expirationSeconds: 7200 } },
      ],
    },
  },
  { name: "quobyte", quobyte: { registry: "r:1", volume: "v" } },
  { name: "rbd", rbd: { monitors: ["m"], image: "i" } },
  { name: "scale-io", scaleIO: { gateway: "https://g", system: "s", volumeName: "v", secretRef } },
  { name: "secret", secret: { secretName: "s" } },
  { name: "storage-os", storageos: { volumeName: "v" } },
  { name: "vsphere", vsphereVolume: { volumePath: "[ds] p" } },
  { name: "sourceless" },
];

const PROBES: Readonly<Record<string, V1Probe>> = {
  exec: { exec: { command: ["true"] } },
  grpc: { grpc: { port: 7 } },
  http: { httpGet: { port: "web" } },
  tcp: { tcpSocket: { port: 80 }, initialDelaySeconds: 0, terminationGracePeriodSeconds: 5 },
};

const EVERY_VARIABLE: V1Container["env"] = [
  { name: "PLAIN", value: "v" },
  { name: "EMPTY", value: "" },
  { name: "NOTHING" },
  { name: "FIELD", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
  { name: "RESOURCE", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
  { name: "DIVIDED", valueFrom: { resourceFieldRef: { resource: "limits.memory", divisor: "1Mi" } } },
  { name: "CONFIG", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } },
  { name: "SECRET", valueFrom: { secretKeyRef: { name: "s", key: "k", optional: false } } },
];

const sidecar = (name: string): V1Container => ({
  name,
  image: "registry.example/agent",
  command: ["run"],
  ports: [
    { containerPort: 80, name: "web" },
    { containerPort: 53, protocol: "UDP" },
  ],
  env: EVERY_VARIABLE,
  envFrom: [{ configMapRef: { name: "c" } }, { prefix: "P_", secretRef: { name: "s", optional: true } }],
  resources: { limits: { cpu: "0.5", memory: "1024Mi" } },
  livenessProbe: PROBES["exec"] ?? {},
  readinessProbe: PROBES["http"] ?? {},
  startupProbe: PROBES["grpc"] ?? {},
  lifecycle: { postStart: { httpGet: { port: 80 } }, preStop: { sleep: { seconds: 3 } } },
  securityContext: {},
  volumeMounts: [
    { name: "empty", mountPath: "/e", subPathExpr: "$(PLAIN)" },
    { name: "data", mountPath: "/d", readOnly: true, recursiveReadOnly: "Disabled" },
  ],
});

const CLASS_SPEC: NonNullable<PodTemplateFragment["spec"]> = {
  serviceAccountName: "engines",
  automountServiceAccountToken: false,
  nodeSelector: { pool: "a", empty: "" },
  tolerations: [
    { operator: "Exists" },
    { key: "k", operator: "Equal", value: "v", effect: "NoExecute", tolerationSeconds: 0 },
  ],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }], matchFields: [] },
          { matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] },
        ],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: "ssd", operator: "Exists" }] } },
      ],
    },
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        {
          topologyKey: "zone",
          labelSelector: { matchLabels: { a: "b" } },
          namespaceSelector: {},
          matchLabelKeys: ["x"],
        },
      ],
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 5, podAffinityTerm: { topologyKey: "host", labelSelector: {}, namespaces: ["n"] } },
      ],
    },
  },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: { a: "b" } } },
    {
      maxSkew: 2,
      topologyKey: "zone",
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchExpressions: [{ key: "k", operator: "DoesNotExist" }] },
      nodeTaintsPolicy: "Honor",
      matchLabelKeys: ["app"],
    },
  ],
  securityContext: {
    supplementalGroups: [1, 2],
    supplementalGroupsPolicy: "Merge",
    sysctls: [{ name: "net.core.somaxconn", value: "1024" }],
    seLinuxOptions: { level: "s0:c1,c2" },
    seccompProfile: { type: "Localhost", localhostProfile: "p.json" },
    appArmorProfile: { type: "RuntimeDefault" },
  },
  containers: [
    {
      name: "engine",
      image: "registry.example:5000/engine:dev",
      env: EVERY_VARIABLE,
      envFrom: [{ secretRef: { name: "s" } }],
      resources: { requests: { cpu: "1500m" }, limits: { cpu: "2.0", memory: "2048Mi", "example.com/gpu": "1" } },
      resizePolicy: [{ resourceName: "cpu", restartPolicy: "NotRequired" }],
      volumeMounts: [{ name: "host", mountPath: "/h", mountPropagation: "HostToContainer" }],
      lifecycle: { preStop: { httpGet: { port: 8122, httpHeaders: [{ name: "X", value: "" }] } } },
    },
    sidecar("from-class"),
  ],
  initContainers: [
    { name: "prepare", image: "busybox:latest", volumeMounts: [{ name: "data", mountPath: "/d" }] },
    {
      name: "native-sidecar",
      image: "agent:v1",
      restartPolicy: "Always",
      livenessProbe: PROBES["tcp"] ?? {},
      lifecycle: { postStart: { exec: { command: ["true"] } }, preStop: { tcpSocket: { port: 80 } } },
    },
  ],
  volumes: EVERY_VOLUME.slice(0, 18),
  imagePullSecrets: [{ name: "pull" }],
};

const ENGINE_SPEC: NonNullable<PodTemplateFragment["spec"]> = {
  priorityClassName: "high",
  runtimeClassName: "gvisor",
  preemptionPolicy: "Never",
  schedulerName: "mine",
  dnsPolicy: "None",
  dnsConfig: {
    nameservers: ["10.0.0.1"],
    searches: ["a.b"],
    options: [{ name: "ndots", value: "2" }, { name: "edns0" }],
  },
  readinessGates: [{ conditionType: "example.com/ready" }],
  resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "gpu-template" }],
  hostAliases: [{ ip: "10.0.0.2", hostnames: ["h"] }],
  os: { name: "linux" },
  overhead: { cpu: "0.25", memory: "1048576" },
  containers: [
    {
      name: "engine",
      workingDir: "/w",
      terminationMessagePolicy: "FallbackToLogsOnError",
      env: [
        { name: "PLAIN", value: "engine wins" },
        { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      ],
      volumeDevices: [{ name: "block", devicePath: "/dev/xvda" }],
      securityContext: {
        runAsUser: 0,
        runAsNonRoot: false,
        privileged: false,
        capabilities: { add: ["NET_ADMIN"], drop: [] },
        procMount: "Default",
      },
    },
    sidecar("from-engine"),
  ],
  initContainers: [{ name: "late", image: "Not:a:reference", resources: { requests: { cpu: "1n" } } }],
  volumes: [
    ...EVERY_VOLUME.slice(18),
    { name: "block", persistentVolumeClaim: { claimName: "block" } },
    { name: "host", hostPath: { path: "/engine-wins", type: "" } },
  ],
  imagePullSecrets: [{ name: "pull" }, { name: "second" }],
};

export const MAXIMAL_CLASS_TEMPLATE: PodTemplateFragment = {
  metadata: { labels: { team: "a", both: "class" }, annotations: { note: "" } },
  spec: CLASS_SPEC,
};

export const MAXIMAL_ENGINE_TEMPLATE: PodTemplateFragment = {
  metadata: { labels: { both: "engine" }, annotations: { "example.com/a": "b" } },
  spec: ENGINE_SPEC,
};
