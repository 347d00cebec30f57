// The settings of the node's programs: all paths are below the cluster's folder, none on the host.
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { cgroupTrees } from "./cgroups.ts";
import { renderContainerdSettings, renderPodNetwork } from "./containerd.ts";
import { renderKubeletSettings } from "./kubelet.ts";
import { assertSandbox } from "./prepare-node.ts";
import { renderCorefile, renderProxySettings } from "./service-network.ts";
import { renderVolume } from "./storage.ts";
import { renderToml } from "./toml.ts";

test("containerd keeps everything below its folder and restricts OOM scores", () => {
  const programs = { containerd: "/c/containerd", runc: "/c/runc", cni: "/c/cni" };
  const settings = renderContainerdSettings({
    folder: "/f",
    network: "/f/cni",
    programs,
    sandboxImage: "localhost/p:1",
    snapshotter: "overlayfs",
  });
  expect(renderToml(settings)).toBe(`"version" = 2
"root" = "/f/root"
"state" = "/f/state"
["grpc"]
"address" = "/f/containerd.sock"
["plugins"]
["plugins"."io.containerd.grpc.v1.cri"]
"sandbox_image" = "localhost/p:1"
"restrict_oom_score_adj" = true
"netns_mounts_under_state_dir" = true
"stream_server_address" = "127.0.0.1"
["plugins"."io.containerd.grpc.v1.cri"."cni"]
"bin_dir" = "/c/cni"
"conf_dir" = "/f/cni"
"max_conf_num" = 1
["plugins"."io.containerd.grpc.v1.cri"."containerd"]
"snapshotter" = "overlayfs"
"default_runtime_name" = "runc"
["plugins"."io.containerd.grpc.v1.cri"."containerd"."runtimes"]
["plugins"."io.containerd.grpc.v1.cri"."containerd"."runtimes"."runc"]
"runtime_type" = "io.containerd.runc.v2"
["plugins"."io.containerd.grpc.v1.cri"."containerd"."runtimes"."runc"."options"]
"BinaryName" = "/c/runc"
"SystemdCgroup" = false
`);
});

test("TOML: a table's own values come before its tables, lists and quotes are escaped", () => {
  expect(renderToml({ a: { b: 1 }, c: ['say "hi"', "x"], d: false })).toBe(
    '"c" = ["say \\"hi\\"", "x"]\n"d" = false\n["a"]\n"b" = 1\n',
  );
});

test("pods are routed and get addresses of the cluster's own range, kept below its folder", () => {
  const network: unknown = JSON.parse(renderPodNetwork("/f/addresses"));
  expect(network).toMatchObject({
    plugins: [{ type: "ptp", ipam: { ranges: [[{ subnet: "10.244.0.0/16" }]], dataDir: "/f/addresses" } }],
  });
  // Masquerading would need another program, and no traffic leaves the machine.
  expect(JSON.stringify(network)).not.toContain("ipMasq");
});

test("the kubelet rejects anonymous requests, and names its control group and its folders", () => {
  const files = { folder: "/f", socket: "/f/c.sock", cgroup: "cluster-1", ca: "/ca", certificate: "/crt", key: "/key" };
  expect(renderKubeletSettings(files)).toMatchObject({
    authentication: { anonymous: { enabled: false }, x509: { clientCAFile: "/ca" } },
    cgroupRoot: "/cluster-1",
    containerRuntimeEndpoint: "unix:///f/c.sock",
    podLogsDir: "/f/pod-logs",
    clusterDNS: ["10.245.0.1"],
  });
});

test("kube-proxy leaves the host's connection tracking as it is", () => {
  expect(renderProxySettings("/k", "node")).toMatchObject({
    mode: "nftables",
    clientConnection: { kubeconfig: "/k" },
    // Nothing in the cluster waits for the default of a second.
    nftables: { minSyncPeriod: "100ms" },
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
  });
});

test("CoreDNS serves the cluster's names on the node's address", () => {
  expect(renderCorefile("/k", 0)).toBe(`cluster.local in-addr.arpa ip6.arpa {
  bind 10.245.0.1
  errors
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig /k
  }
  ready 127.0.0.1:8181
}
`);
});

test("CoreDNS caches for the configured time, and returns the same TTL", () => {
  const lines = renderCorefile("/k", 30).split("\n");
  expect(lines.filter((line) => /ttl|cache/.test(line))).toEqual(["    ttl 30", "  cache 30"]);
});

test("a claim's volume is for this claim, on this node, below the folder", () => {
  const claim = {
    metadata: { namespace: "ns", name: "data-pg-0", uid: "u1" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
  };
  expect(stringify(renderVolume(claim, { nodeName: "n", folder: "/v" }).spec)).toBe(`storageClassName: local-folders
persistentVolumeReclaimPolicy: Delete
capacity:
  storage: 10Gi
accessModes:
  - ReadWriteOnce
claimRef:
  apiVersion: v1
  kind: PersistentVolumeClaim
  namespace: ns
  name: data-pg-0
  uid: u1
local:
  path: /v/pvc-u1
nodeAffinity:
  required:
    nodeSelectorTerms:
      - matchExpressions:
          - key: kubernetes.io/hostname
            operator: In
            values:
              - n
`);
});

test("control groups: trees of either version are found, and none at all is an error", () => {
  const lines = [
    "30 24 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu",
    "31 24 0:27 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw",
    "32 24 8:1 / / rw - ext4 /dev/sda1 rw",
  ];
  expect(cgroupTrees(lines.join("\n"))).toEqual([
    { mountPoint: "/sys/fs/cgroup/cpu", version: 1 },
    { mountPoint: "/sys/fs/cgroup/unified", version: 2 },
  ]);
  expect(() => cgroupTrees(lines[2] ?? "")).toThrow("no cgroups are mounted here");
});

test("outside a sandbox nothing is set up, and the remedy is named", () => {
  expect(() => assertSandbox({})).toThrow("dev/sandbox/sandbox.sh");
  expect(() => assertSandbox({ FIREBOLT_SANDBOX: "1" })).not.toThrow();
});
