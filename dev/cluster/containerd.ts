// containerd for the local cluster's node: its settings, its pod network, and loading images from archives. Everything it keeps is below
// the cluster's folder; it never pulls.
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ManagedProcess, startProcess, type Workspace } from "@firebolt-operator/kube/testing";
import { runProgram } from "../assets/run-program.ts";
import { POD_RANGE } from "./addresses.ts";
import { renderToml, type TomlTable } from "./toml.ts";

const READY_DEADLINE_MS = 30_000;
const PROBE_DEADLINE_MS = 5_000;
const IMPORT_DEADLINE_MS = 180_000;
/** Where the kubelet's images and containers live. */
const NAMESPACE = "k8s.io";

export interface RuntimePrograms {
  readonly containerd: string;
  readonly runc: string;
  /** Folder of the CNI plugins. */
  readonly cni: string;
}

export interface ContainerdOptions {
  readonly workspace: Workspace;
  readonly programs: RuntimePrograms;
  /** Reference of the image every pod's sandbox runs. */
  readonly sandboxImage: string;
}

export interface Containerd {
  readonly socket: string;
  readonly process: ManagedProcess;
  /** Makes the images in this OCI archive available to pods. */
  load(file: string, signal?: AbortSignal): Promise<void>;
}

export async function startContainerd({ workspace, programs, sandboxImage }: ContainerdOptions): Promise<Containerd> {
  const folder = join(workspace.folder, "containerd");
  const network = join(folder, "cni");
  mkdirSync(network, { recursive: true });
  workspace.write("containerd/cni/10-pods.conflist", renderPodNetwork(join(folder, "addresses")));
  const snapshotter = await chooseSnapshotter(folder);
  const settings = renderContainerdSettings({ folder, network, programs, sandboxImage, snapshotter });
  const file = workspace.write("containerd.toml", renderToml(settings));
  const socket = socketIn(folder);
  const process = startProcess(workspace, {
    name: "containerd",
    binary: programs.containerd,
    args: ["--config", file],
    env: { PATH: pathFor(programs) },
  });
  const ctr = join(dirname(programs.containerd), "ctr");
  const call = (args: readonly string[], timeoutMs: number, signal?: AbortSignal): Promise<unknown> =>
    runProgram({
      program: ctr,
      args: ["--address", socket, "--namespace", NAMESPACE, ...args],
      timeoutMs,
      ...(signal === undefined ? {} : { signal }),
    });
  await process.waitUntilReady(async () => {
    await call(["version"], PROBE_DEADLINE_MS);
    return true;
  }, READY_DEADLINE_MS);
  return {
    socket,
    process,
    async load(archive, signal) {
      await call(["images", "import", "--snapshotter", snapshotter, archive], IMPORT_DEADLINE_MS, signal);
    },
  };
}

const socketIn = (folder: string): string => join(folder, "containerd.sock");

/** containerd finds the shim beside itself, and the shim finds the CNI plugins' and its own tools on the path. */
function pathFor({ containerd, runc }: RuntimePrograms): string {
  return [dirname(containerd), dirname(runc), "/usr/sbin", "/usr/bin", "/sbin", "/bin"].join(":");
}

export interface ContainerdSettings {
  readonly folder: string;
  /** Folder of the pod network's settings. */
  readonly network: string;
  readonly programs: RuntimePrograms;
  readonly sandboxImage: string;
  readonly snapshotter: Snapshotter;
}

export function renderContainerdSettings(settings: ContainerdSettings): TomlTable {
  const { folder, network, programs, sandboxImage, snapshotter } = settings;
  return {
    version: 2,
    root: join(folder, "root"),
    state: join(folder, "state"),
    grpc: { address: socketIn(folder) },
    plugins: {
      "io.containerd.grpc.v1.cri": {
        sandbox_image: sandboxImage,
        // Lowering an OOM score needs CAP_SYS_RESOURCE; without it every pod sandbox would fail.
        restrict_oom_score_adj: true,
        netns_mounts_under_state_dir: true,
        stream_server_address: "127.0.0.1",
        cni: { bin_dir: programs.cni, conf_dir: network, max_conf_num: 1 },
        containerd: {
          snapshotter,
          default_runtime_name: "runc",
          runtimes: {
            runc: {
              runtime_type: "io.containerd.runc.v2",
              options: { BinaryName: programs.runc, SystemdCgroup: false },
            },
          },
        },
      },
    },
  };
}

/**
 * How containers share an image's files: by layers, or by copies where the underlying file system does not support
 * layers.
 */
export type Snapshotter = "overlayfs" | "native";

/** Determined by trying: an overlay on an overlay, as in most containers, does not work. */
async function chooseSnapshotter(folder: string): Promise<Snapshotter> {
  const at = (name: string): string => join(folder, "probe", name);
  for (const name of ["lower", "upper", "work", "merged"]) mkdirSync(at(name), { recursive: true });
  const options = `lowerdir=${at("lower")},upperdir=${at("upper")},workdir=${at("work")}`;
  try {
    await mount("mount", ["-t", "overlay", "-o", options, "overlay", at("merged")]);
  } catch {
    return "native"; // For any reason: copies always work.
  }
  await mount("umount", [at("merged")]);
  return "overlayfs";
}

async function mount(program: "mount" | "umount", args: readonly string[]): Promise<void> {
  await runProgram({ program, args, timeoutMs: PROBE_DEADLINE_MS });
}

/** Each pod is connected to the node alone and everything is routed: Services then work without the kernel's bridge filter. */
export function renderPodNetwork(addressesFolder: string): string {
  return JSON.stringify({
    cniVersion: "0.4.0",
    name: "pods",
    plugins: [
      {
        type: "ptp",
        ipam: {
          type: "host-local",
          ranges: [[{ subnet: POD_RANGE }]],
          routes: [{ dst: "0.0.0.0/0" }],
          dataDir: addressesFolder,
        },
      },
    ],
  });
}
