// A whole Kubernetes cluster in one sandbox: the control plane, a real node (kubelet, containerd), Services that work, and storage.
// It changes nothing on the host and removes everything when it stops. It does not know the operator.
import { tmpdir } from "node:os";
import { basename } from "node:path";
import {
  type ManagedProcess,
  openApiFromKubeconfig,
  openWorkspace,
  type Workspace,
} from "@firebolt-operator/kube/testing";
import { resolveAssets } from "../assets/resolver.ts";
import { requireProgram } from "../assets/system/programs.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import type { ImageArchive } from "../images/catalog.ts";
import { NODE_ADDRESS } from "./addresses.ts";
import { makeCgroup } from "./cgroups.ts";
import { type Containerd, startContainerd } from "./containerd.ts";
import { startKubelet } from "./kubelet.ts";
import { DISMANTLE, FOLDER_PREFIX, markAlive, parentFolder, removeOrphans } from "./orphans.ts";
import { assertSandbox, setUpNetwork, shadowHostSettings } from "./prepare-node.ts";
import { waitUntilUsable } from "./readiness.ts";
import { startCoreDns, startKubeProxy } from "./service-network.ts";
import { together } from "./start-together.ts";
import { startStorage } from "./storage.ts";

const NODE_NAME = "local-node";

/** Pods reach the API server through the Service `kubernetes`, whose endpoint must not be a loopback address. */
const API_SERVER_ARGS = [
  "--bind-address=0.0.0.0",
  `--advertise-address=${NODE_ADDRESS}`,
  "--endpoint-reconciler-type=lease",
];

export interface LocalClusterOptions {
  /** The images that are loaded before the node starts. `pause` must be among them: it holds the network namespace of every pod. */
  readonly images: readonly ImageArchive[];
  /** The cluster's folder is created below this one. Default: the system's folder for temporary files. */
  readonly folder?: string;
  /** Called as soon as the API server can be used, while the node starts. */
  readonly onApiServer?: (api: Pick<ControlPlane, "url" | "adminKubeconfig">) => void;
  /** Called as soon as further images can be loaded, while the node starts. */
  readonly onRuntime?: (loadImage: LocalCluster["loadImage"]) => void;
  /** Progress for people: one line per step. */
  readonly progress?: (line: string) => void;
  /** Aborts the start; a cluster that has started is stopped by `stop`. */
  readonly signal?: AbortSignal;
}

type Control =
  | "url"
  | "adminKubeconfig"
  | "userKubeconfig"
  | "serviceAccountKubeconfig"
  | "stopApiServer"
  | "startApiServer"
  | "restartEtcd";

export interface LocalCluster extends AsyncDisposable, Pick<ControlPlane, Control> {
  /** Everything the cluster writes is below this folder, which is removed with it. */
  readonly folder: string;
  readonly nodeName: string;
  /** Makes an image available to pods. */
  loadImage(archive: ImageArchive, signal?: AbortSignal): Promise<void>;
  /** Stops the kubelet (SIGTERM by default) and starts it again; pods keep running. */
  restartKubelet(signal?: NodeJS.Signals): Promise<void>;
  /** Restarts the DNS server, with responses cached for this long. It starts with 0: nothing is cached. */
  restartNameServer(cacheSeconds: number): Promise<void>;
  /** Process ids by name, for tests that measure memory or send signals. */
  readonly processes: Readonly<Record<string, number>>;
  /** Terminates every pod and program and removes everything. Idempotent. */
  stop(): Promise<void>;
}

export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  assertSandbox(process.env);
  const progress = options.progress ?? (() => undefined);
  const parent = parentFolder(options.folder ?? tmpdir());
  const programs = await findPrograms(progress);
  await removeOrphans(parent, progress);

  // When anything fails, what has been started is stopped again, the latest first.
  await using started = new AsyncDisposableStack();
  const workspace = openWorkspace(FOLDER_PREFIX, { parent, beforeRemoval: DISMANTLE });
  started.defer(() => workspace.close());
  started.use(await markAlive(workspace.folder));
  await setUpNetwork();
  await shadowHostSettings();
  const { controlPlane, containerd, loadImage } = await startFoundation({
    workspace,
    options,
    programs,
    started,
    progress,
  });
  const node = await startNode({ workspace, controlPlane, containerd, options, programs, started, progress });
  const parts = started.move();
  let ending: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    ending ??= parts.disposeAsync();
    return ending;
  };
  return {
    url: controlPlane.url,
    folder: workspace.folder,
    adminKubeconfig: controlPlane.adminKubeconfig,
    nodeName: NODE_NAME,
    userKubeconfig: (user, groups) => controlPlane.userKubeconfig(user, groups),
    serviceAccountKubeconfig: (namespace, name) => controlPlane.serviceAccountKubeconfig(namespace, name),
    loadImage,
    restartKubelet: (signal) => node.kubelet.restart(signal),
    restartNameServer: (cacheSeconds) => node.dns.restart(cacheSeconds),
    stopApiServer: (signal) => controlPlane.stopApiServer(signal),
    startApiServer: () => controlPlane.startApiServer(),
    restartEtcd: (signal) => controlPlane.restartEtcd(signal),
    get processes() {
      const own = [containerd.process, node.kubelet.process(), node.proxy, node.dns.process()];
      return { ...controlPlane.processes, ...Object.fromEntries(own.map((one) => [one.name, one.pid])) };
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

type Programs = Awaited<ReturnType<typeof findPrograms>>;

async function findPrograms(progress: (line: string) => void) {
  const system = {
    containerd: requireProgram("containerd"),
    runc: requireProgram("runc"),
    cni: requireProgram("cni"),
    nft: requireProgram("nft"),
  };
  const names = ["kubelet", "kube-proxy", "coredns"] as const;
  const paths = await resolveAssets(names, { progress });
  const pathOf = (name: (typeof names)[number]): string => {
    const path = paths.get(name);
    if (path === undefined) throw new Error(`no binary for ${name}`);
    return path;
  };
  return { ...system, kubelet: pathOf("kubelet"), proxy: pathOf("kube-proxy"), dns: pathOf("coredns") };
}

interface StartInput {
  readonly workspace: Workspace;
  readonly options: LocalClusterOptions;
  readonly programs: Programs;
  /** What must be stopped again. */
  readonly started: AsyncDisposableStack;
  readonly progress: (line: string) => void;
}

/** The control plane and containerd are independent: they start, and images are loaded, at the same time. */
async function startFoundation({ workspace, options, programs, started, progress }: StartInput) {
  const pause = options.images.find(({ name }) => name === "pause");
  if (pause === undefined) throw new Error("no image called pause is among the images: no pod can run without it");
  options.signal?.throwIfAborted();
  progress("starting the control plane and containerd");
  const [controlPlane, runtime] = await together([
    startControlPlane({
      components: ["kube-controller-manager", "kube-scheduler"],
      // The node needs the API server alone, and starts beside them.
      waitForComponents: false,
      parentFolder: workspace.folder,
      apiServerArgs: API_SERVER_ARGS,
    }).then((one) => {
      options.onApiServer?.(one);
      return started.use(one);
    }),
    startContainerd({ workspace, programs, sandboxImage: pause.reference }).then(async (containerd) => {
      stopLater(started, containerd.process);
      const loadImage: LocalCluster["loadImage"] = ({ file }, signal) => containerd.load(file, signal);
      for (const image of options.images) await loadImage(image, options.signal);
      options.onRuntime?.(loadImage);
      return { containerd, loadImage };
    }),
  ]);
  return { controlPlane, ...runtime };
}

interface NodeInput extends StartInput {
  readonly controlPlane: ControlPlane;
  readonly containerd: Containerd;
}

async function startNode({ workspace, controlPlane, containerd, options, programs, started, progress }: NodeInput) {
  const { signal } = options;
  signal?.throwIfAborted();
  progress("starting the node");
  const cgroup = basename(workspace.folder);
  makeCgroup(cgroup);
  const api = openApiFromKubeconfig(controlPlane.adminKubeconfig);
  started.defer(() => api.close());
  const common = { workspace, controlPlane, nodeName: NODE_NAME };
  const [kubelet, proxy, dns] = await together([
    startKubelet({ ...common, binary: programs.kubelet, socket: containerd.socket, cgroup }).then((one) => {
      started.defer(() => one.process().stop());
      return one;
    }),
    startKubeProxy({ ...common, binary: programs.proxy, nft: programs.nft }).then((one) => stopLater(started, one)),
    startCoreDns({ ...common, binary: programs.dns }).then((one) => {
      started.defer(() => one.process().stop());
      return one;
    }),
    startStorage({ api, nodeName: NODE_NAME, folder: workspace.folder }).then((one) => started.use(one)),
    controlPlane.componentsReady,
  ]);
  progress("waiting for the node, DNS and Services");
  await waitUntilUsable({ api, kubeconfig: controlPlane.adminKubeconfig, nodeName: NODE_NAME, signal });
  return { kubelet, proxy, dns };
}

function stopLater(started: AsyncDisposableStack, one: ManagedProcess): ManagedProcess {
  started.defer(() => one.stop());
  return one;
}
