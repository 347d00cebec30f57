// A real Kubernetes control plane on free loopback ports, for tests and the playground.

/** What runs beside etcd and kube-apiserver. */
export type Component = "kube-controller-manager" | "kube-scheduler" | "kwok";

export interface ControlPlaneOptions {
  readonly components?: readonly Component[];
  /** Further kube-apiserver flags, e.g. `--watch-cache=false`. */
  readonly apiServerArgs?: readonly string[];
  /** Folder or file with CRD manifests to install before `startControlPlane` returns. */
  readonly crds?: string;
  /** Progress for people: one line per step. */
  readonly progress?: (line: string) => void;
}

export interface ControlPlane extends AsyncDisposable {
  /** `https://127.0.0.1:port` */
  readonly url: string;
  /** Everything the control plane writes is below this folder, which goes away with it. */
  readonly folder: string;
  /** Path of the cluster administrator's kubeconfig. */
  readonly adminKubeconfig: string;
  /** Path of a kubeconfig with a client certificate for this user. */
  userKubeconfig(user: string, groups?: readonly string[]): Promise<string>;
  /** Path of a kubeconfig with a token of this service account, which is made if it does not exist. */
  serviceAccountKubeconfig(namespace: string, name: string): Promise<string>;
  /** Ends kube-apiserver (SIGKILL by default) and waits until it is gone; etcd keeps running. */
  stopApiServer(signal?: NodeJS.Signals): Promise<void>;
  /** Starts kube-apiserver again on the same port and waits until it is ready. */
  startApiServer(): Promise<void>;
  /** Compacts etcd's history up to now, so that older watch positions are refused with 410. */
  compactEtcd(): Promise<void>;
  /** Process ids by name, for tests that look at memory or send signals. */
  readonly processes: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}
