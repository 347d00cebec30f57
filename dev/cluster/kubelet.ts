// The kubelet of the local cluster's one node: its certificates, its settings and starting it again.
import { join } from "node:path";
import { type ManagedProcess, startProcess, type Workspace } from "@firebolt-operator/kube/testing";
import { stringify } from "yaml";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { CLUSTER_DOMAIN, KUBELET_HEALTH_PORT, KUBELET_PORT, NODE_ADDRESS } from "./addresses.ts";

const READY_DEADLINE_MS = 60_000;

export interface KubeletOptions {
  readonly workspace: Workspace;
  readonly controlPlane: ControlPlane;
  readonly binary: string;
  readonly nodeName: string;
  /** containerd's. */
  readonly socket: string;
  /** Name of the control group all containers are below. */
  readonly cgroup: string;
}

export interface Kubelet {
  readonly process: () => ManagedProcess;
  /** Stops it (SIGTERM by default) and starts it again; pods keep running. */
  restart(signal?: NodeJS.Signals): Promise<void>;
}

export async function startKubelet(options: KubeletOptions): Promise<Kubelet> {
  const { workspace, controlPlane, nodeName } = options;
  const serving = controlPlane.issueCertificate({
    commonName: `system:node:${nodeName}`,
    organizations: ["system:nodes"],
    usages: ["server"],
    hosts: [NODE_ADDRESS, nodeName],
  });
  const settings = renderKubeletSettings({
    folder: workspace.folder,
    socket: options.socket,
    cgroup: options.cgroup,
    ca: join(controlPlane.folder, "ca.crt"),
    certificate: workspace.write("kubelet.crt", serving.certificate),
    key: workspace.write("kubelet.key", serving.key),
  });
  const args = [
    `--config=${workspace.write("kubelet.yaml", stringify(settings))}`,
    `--kubeconfig=${await controlPlane.userKubeconfig(`system:node:${nodeName}`, ["system:nodes"])}`,
    `--root-dir=${join(workspace.folder, "kubelet")}`,
    `--hostname-override=${nodeName}`,
    `--node-ip=${NODE_ADDRESS}`,
  ];
  const start = async () => {
    const started = startProcess(workspace, { name: "kubelet", binary: options.binary, args });
    await started.waitUntilReady(
      async (signal) => (await fetch(`http://127.0.0.1:${KUBELET_HEALTH_PORT}/healthz`, { signal })).ok,
      READY_DEADLINE_MS,
    );
    return started;
  };
  let running = await start();
  return {
    process: () => running,
    async restart(signal) {
      await running.stop(signal);
      running = await start();
    },
  };
}

export interface KubeletSettings {
  readonly folder: string;
  readonly socket: string;
  readonly cgroup: string;
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

export function renderKubeletSettings({ folder, socket, cgroup, ca, certificate, key }: KubeletSettings) {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: NODE_ADDRESS,
    port: KUBELET_PORT,
    healthzBindAddress: "127.0.0.1",
    healthzPort: KUBELET_HEALTH_PORT,
    tlsCertFile: certificate,
    tlsPrivateKeyFile: key,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: ca } },
    authorization: { mode: "Webhook" },
    clusterDNS: [NODE_ADDRESS],
    clusterDomain: CLUSTER_DOMAIN,
    // Pods get the cluster's names and none of the host's.
    resolvConf: "",
    containerRuntimeEndpoint: `unix://${socket}`,
    podLogsDir: join(folder, "pod-logs"),
    volumePluginDir: join(folder, "volume-plugins"),
    // Works with either version of control groups, and without systemd.
    failCgroupV1: false,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${cgroup}`,
    cgroupsPerQOS: true,
    enforceNodeAllocatable: [],
    failSwapOn: false,
    localStorageCapacityIsolation: false,
    // Disk and memory pressure concern the host: they evict no pod and remove no image.
    evictionHard: { "memory.available": "1Mi", "nodefs.available": "1Mi", "nodefs.inodesFree": "1" },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    // Lowering a score needs CAP_SYS_RESOURCE.
    oomScoreAdj: 0,
    makeIPTablesUtilChains: false,
    // One node with everything on it: its requests must not wait for each other.
    kubeAPIQPS: 200,
    kubeAPIBurst: 400,
    eventRecordQPS: 0,
    // A crashing container is restarted after one second: tests kill containers on purpose, and people wait.
    crashLoopBackOff: { maxContainerRestartPeriod: "1s" },
  };
}
