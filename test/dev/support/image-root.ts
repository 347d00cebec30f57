// An image archive opened as a container engine would: checked by its digests, its layers unpacked over each other, and programs run
// from it with its own user and environment on a root that cannot be written.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { valueAt } from "@firebolt-operator/kube/testing";

export interface ImageRoot extends Disposable {
  /** Where the layers are unpacked. */
  readonly folder: string;
  /** The image's configuration. */
  readonly config: unknown;
  readonly index: unknown;
  /** What Docker reads. */
  readonly docker: unknown;
  /** Copies a file into the image's /tmp, readable for all; returns its path inside. */
  place(file: string, name: string): string;
  /** Starts the entry point, or another program of the image, with these arguments. */
  run(args: readonly string[], instead?: readonly string[], context?: RunContext): ChildProcess;
}

export interface RunContext {
  /** Folders of this machine by their places in the image, mounted so that they can be written. */
  readonly volumes?: Readonly<Record<string, string>>;
  /** On top of the image's own. */
  readonly environment?: Readonly<Record<string, string>>;
}

const isRoot = process.getuid?.() === 0;

export function openImageRoot(archive: string): ImageRoot {
  const work = mkdtempSync(join(tmpdir(), "image-"));
  const [layout, folder] = [join(work, "layout"), join(work, "root")];
  for (const path of [layout, folder]) mkdirSync(path);
  execFileSync("tar", ["-xf", archive, "-C", layout]);
  const json = (path: string): unknown => JSON.parse(readFileSync(join(layout, path), "utf8"));
  const blob = (digest: unknown): Buffer => {
    const content = readFileSync(join(layout, "blobs", String(digest).replace(":", "/")));
    if (digestOf(content) !== digest) throw new Error(`the blob ${digest} is another`);
    return content;
  };
  const index = json("index.json");
  const manifest: unknown = JSON.parse(blob(valueAt(index, ["manifests", 0, "digest"])).toString());
  const config: unknown = JSON.parse(blob(valueAt(manifest, ["config", "digest"])).toString());
  const layers = valueAt(manifest, ["layers"]);
  if (!Array.isArray(layers)) throw new Error("the manifest has no layers");
  for (const [at, layer] of layers.entries()) {
    const unpack = String(valueAt(layer, ["mediaType"])).endsWith("+zstd") ? zstdDecompressSync : gunzipSync;
    const tar = unpack(blob(valueAt(layer, ["digest"])));
    if (digestOf(tar) !== valueAt(config, ["rootfs", "diff_ids", at])) throw new Error(`layer ${at} is another`);
    execFileSync("tar", ["-xpf", "-", "-C", folder], { input: tar, maxBuffer: 1 << 20 });
  }
  return {
    folder,
    config,
    index,
    get docker() {
      return json("manifest.json");
    },
    place(file, name) {
      const path = join(folder, "tmp", name);
      copyFileSync(file, path);
      chmodSync(path, 0o644);
      return `/tmp/${name}`;
    },
    run: (args, instead, context) =>
      runInside({ folder, config, command: [...(instead ?? entrypointOf(config)), ...args], context }),
    [Symbol.dispose]: () => rmSync(work, { recursive: true, force: true }),
  };
}

const digestOf = (content: Buffer): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;

interface Run {
  readonly folder: string;
  readonly config: unknown;
  readonly command: readonly string[];
  readonly context: RunContext | undefined;
}

/** In a mount namespace of its own, so that nothing stays mounted. Without root there is no other user to become. */
function runInside({ folder, config, command, context = {} }: Run): ChildProcess {
  const environment = valueAt(config, ["config", "Env"]);
  if (!Array.isArray(environment)) throw new Error("the image has no environment");
  const variables: Record<string, string> = {
    ...Object.fromEntries(environment.map(String).map(splitVariable)),
    ...context.environment,
  };
  const user = isRoot ? `--userspec=${String(valueAt(config, ["config", "User"]))}` : "--userspec=0:0";
  const volumes = Object.entries(context.volumes ?? {});
  for (const [place] of volumes) mkdirSync(join(folder, place), { recursive: true });
  const script = [
    'mount --bind "$1" "$1"',
    'mount --rbind /proc "$1/proc"',
    'mount --rbind /dev "$1/dev"',
    'mount -o remount,bind,ro "$1"',
    ...volumes.map(([place, from]) => `mount --bind '${from}' "$1${place}"`),
    // chroot is looked up in the machine's folders, what it starts in the image's.
    'chroot=$(command -v chroot) root=$1 user=$2 PATH=$3; shift 3; exec "$chroot" "$user" "$root" "$@"',
  ];
  const namespaces = isRoot ? ["--mount"] : ["--map-root-user", "--mount"];
  const args = [folder, user, variables["PATH"] ?? "", ...command];
  return spawn("unshare", [...namespaces, "sh", "-c", script.join(" && "), "image", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...variables, PATH: process.env["PATH"] ?? "" },
  });
}

function entrypointOf(config: unknown): readonly string[] {
  const entrypoint = valueAt(config, ["config", "Entrypoint"]);
  if (!Array.isArray(entrypoint)) throw new Error("the image has no entry point");
  return entrypoint.map(String);
}

function splitVariable(variable: string): readonly [string, string] {
  const at = variable.indexOf("=");
  return [variable.slice(0, at), variable.slice(at + 1)];
}
