// A real Kubernetes control plane on free loopback ports, for tests. All its processes and files are removed with it,
// also if its owner is killed. Does not search for programs: the caller names them.
import { join } from "node:path";
import type { KeyPair } from "../../certificates/x509/certificate.ts";
import { type CertificateRequest, createAuthority } from "../authority.ts";
import { writeServiceAccountKubeconfig, writeUserKubeconfig } from "./access.ts";
import { type ApiServer, startApiServer } from "./api-server.ts";
import { type Component, programOf } from "./components.ts";
import { installCrds } from "./custom-resources.ts";
import { startEtcd } from "./etcd.ts";
import { type ManagedProcess, startProcess } from "./process.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

const COMPONENT_DEADLINE_MS = 120_000;

/**
 * Where the programs are: a folder that contains them by name (`etcd`, `kube-apiserver`, …), or a path for each name.
 */
export type Binaries = string | Readonly<Record<string, string>>;

/** Options of a control plane. */
export interface ControlPlaneOptions {
  readonly binaries: Binaries;
  /** Programs to run beside etcd and kube-apiserver. */
  readonly components?: readonly Component[];
  /**
   * False: `startControlPlane` resolves as soon as the API server is ready, while the components start. Default: they
   * are ready too.
   */
  readonly waitForComponents?: boolean;
  /** Additional kube-apiserver flags, e.g. `--watch-cache=false`. */
  readonly apiServerArgs?: readonly string[];
  /** Folder or file with CRD manifests to install before `startControlPlane` resolves. */
  readonly crds?: string;
  /** Parent of the control plane's own folder. Default: the system's folder for temporary files. */
  readonly parentFolder?: string;
  /** Prefix of the folder's name. Default: `control-plane-`. */
  readonly folderPrefix?: string;
  /** Receives one line of progress per step. */
  readonly progress?: (line: string) => void;
}

/** A running control plane. All its processes and files are removed with it, also if its owner is killed. */
export interface ControlPlane extends AsyncDisposable {
  /** `https://127.0.0.1:port` */
  readonly url: string;
  /** Everything the control plane writes is below this folder, which is removed with it. */
  readonly folder: string;
  /** Path of the cluster administrator's kubeconfig. */
  readonly adminKubeconfig: string;
  /** Resolves when every component works; rejects if one exits first. */
  readonly componentsReady: Promise<void>;
  /** Path of a kubeconfig with a client certificate for this user. */
  userKubeconfig(user: string, groups?: readonly string[]): Promise<string>;
  /** Path of a kubeconfig with a token of this service account, which is created if it does not exist. */
  serviceAccountKubeconfig(namespace: string, name: string): Promise<string>;
  /** A certificate of the control plane's own authority, whose root is in `ca.crt` of the folder. */
  issueCertificate(request: CertificateRequest): KeyPair;
  /** Terminates kube-apiserver (SIGKILL by default) and waits until it has exited; etcd keeps running. */
  stopApiServer(signal?: NodeJS.Signals): Promise<void>;
  /** Starts kube-apiserver again on the same port and waits until it is ready. */
  startApiServer(): Promise<void>;
  /**
   * Terminates etcd (SIGTERM by default) and restarts it with its data; kube-apiserver keeps running and reconnects.
   */
  restartEtcd(signal?: NodeJS.Signals): Promise<void>;
  /**
   * Compacts etcd's history up to now, so that older watch positions are rejected with 410.
   *
   * kube-apiserver 1.36 serves watches and continued lists from its own watch cache and does not notice a compaction
   * below it. A real 410 (a watch returns 200 with an ERROR event of code 410, a continued list returns 410) therefore
   * also needs either `apiServerArgs: ["--watch-cache=false"]`, or a restart of the API server, whose new cache begins
   * at that moment. After a restart every older position is rejected, compacted or not.
   */
  compactEtcd(): Promise<void>;
  /** Process ids by name, for tests that measure memory or send signals. */
  readonly processes: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/**
 * Starts etcd, kube-apiserver and the requested components on free loopback ports; resolves when they are ready (see
 * `waitForComponents`).
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { parentFolder: parent, folderPrefix = "control-plane-" } = options;
  const workspace = openWorkspace(folderPrefix, parent === undefined ? {} : { parent });
  try {
    return await start(workspace, options);
  } catch (error) {
    await workspace.close();
    throw error;
  }
}

async function start(workspace: Workspace, options: ControlPlaneOptions): Promise<ControlPlane> {
  const { components = [], progress = () => undefined } = options;
  const binaryOf = (name: string): string => pathOf(options.binaries, name);
  const authority = createAuthority("control-plane");
  progress("starting etcd");
  const etcd = await startEtcd(workspace, authority, binaryOf("etcd"));
  progress("starting kube-apiserver");
  // Without a controller manager there are no `default` service accounts, and pods could not be created at all.
  const withoutAccounts = components.includes("kube-controller-manager")
    ? []
    : ["--disable-admission-plugins=ServiceAccount"];
  const apiServer = await startApiServer({
    workspace,
    authority,
    binary: binaryOf("kube-apiserver"),
    etcdUrl: etcd.url,
    extraArgs: [...withoutAccounts, ...(options.apiServerArgs ?? [])],
  });
  const access = { workspace, authority, url: apiServer.url, admin: apiServer.admin };
  const started: ManagedProcess[] = [];
  for (const component of components) {
    const { name, user, groups, args } = programOf(component);
    progress(`starting ${name}`);
    const files = { kubeconfig: writeUserKubeconfig(access, user, groups), ca: `${workspace.folder}/ca.crt` };
    started.push(startProcess(workspace, { name, binary: binaryOf(name), args: args(files) }));
  }
  const componentsReady = Promise.all(started.map((component) => waitUntilWorking(component, apiServer))).then(
    () => undefined,
  );
  // A caller that does not wait for it learns of a failure when it does.
  componentsReady.catch(() => undefined);
  if (options.waitForComponents !== false) await componentsReady;
  if (options.crds !== undefined) {
    const names = await installCrds(apiServer.admin, options.crds);
    progress(`installed ${names.length} CRDs`);
  }
  const running = () => [...started, apiServer.process(), etcd.process()];
  const stop = once(async () => {
    // Dependents first, so that nothing spends its last second retrying.
    await Promise.all(started.map((component) => component.stop()));
    await apiServer.process().stop();
    await etcd.process().stop();
    apiServer.admin.close();
    etcd.close();
    await workspace.close();
  });
  return {
    url: apiServer.url,
    folder: workspace.folder,
    adminKubeconfig: writeUserKubeconfig(access, "admin", ["system:masters"]),
    componentsReady,
    userKubeconfig: async (user, groups = []) => writeUserKubeconfig(access, user, groups),
    serviceAccountKubeconfig: (namespace, name) => writeServiceAccountKubeconfig(access, namespace, name),
    issueCertificate: (request) => authority.issue(request),
    stopApiServer: (signal = "SIGKILL") => apiServer.process().stop(signal),
    startApiServer: () => apiServer.restart(),
    restartEtcd: (signal) => etcd.restart(signal),
    compactEtcd: () => etcd.compact(),
    get processes() {
      return Object.fromEntries(running().map((one) => [one.name, one.pid]));
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The controller manager is ready when it has created the first service account; the others have no visible sign. */
function waitUntilWorking(component: ManagedProcess, { admin }: ApiServer): Promise<void> {
  const path = "/api/v1/namespaces/default/serviceaccounts/default";
  return component.waitUntilReady(
    async (signal) =>
      component.name !== "kube-controller-manager" || (await admin.send({ path, signal })).status === 200,
    COMPONENT_DEADLINE_MS,
  );
}

function pathOf(binaries: Binaries, name: string): string {
  if (typeof binaries === "string") return join(binaries, name);
  const path = binaries[name];
  if (path === undefined) throw new Error(`no path given for the binary ${name}`);
  return path;
}

/** A second stop waits for the first one. */
function once(action: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= action();
    return running;
  };
}
