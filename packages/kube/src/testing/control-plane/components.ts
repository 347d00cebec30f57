// The optional programs beside etcd and kube-apiserver: their users and their flags.

/** Files that the flags of a component refer to. */
export interface ComponentFiles {
  readonly kubeconfig: string;
  /** The cluster's root certificate. */
  readonly ca: string;
}

/** A program with its own kubeconfig. */
export interface ComponentProgram {
  /** Name of its binary and of its log file. */
  readonly name: string;
  /** Its user at the API server. */
  readonly user: string;
  readonly groups: readonly string[];
  args(files: ComponentFiles): readonly string[];
}

/** One of Kubernetes' own programs by its name, or any other program. */
export type Component = "kube-controller-manager" | "kube-scheduler" | ComponentProgram;

export function programOf(component: Component): ComponentProgram {
  switch (component) {
    case "kube-controller-manager":
      return CONTROLLER_MANAGER;
    case "kube-scheduler":
      return SCHEDULER;
    default:
      return component;
  }
}

const CONTROLLER_MANAGER: ComponentProgram = {
  name: "kube-controller-manager",
  user: "system:kube-controller-manager",
  // Its controllers use its own identity instead of one service account each, which would cost a token request per
  // controller at startup; so it needs the permissions of all of them.
  groups: ["system:masters"],
  args: ({ kubeconfig, ca }) => [
    `--kubeconfig=${kubeconfig}`,
    `--root-ca-file=${ca}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--kube-api-qps=1000",
    "--kube-api-burst=2000",
    // Simulated nodes and busy machines send late heartbeats, which must not evict pods.
    "--node-monitor-grace-period=1h",
  ],
};

const SCHEDULER: ComponentProgram = {
  name: "kube-scheduler",
  user: "system:kube-scheduler",
  groups: [],
  args: ({ kubeconfig }) => [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--kube-api-qps=1000",
    "--kube-api-burst=2000",
  ],
};
