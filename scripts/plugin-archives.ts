// The kubectl plugin as people install it: one archive per platform and a manifest for krew with their checksums. The program is the
// same everywhere, one file that Node runs; what differs is how it is started. The same input gives the same bytes.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { stringify } from "yaml";
import { createTar, type TarFile } from "../src/plugin/bundle/tar.ts";

const UNIX = [
  { os: "darwin", arch: "amd64" },
  { os: "darwin", arch: "arm64" },
  { os: "linux", arch: "amd64" },
  { os: "linux", arch: "arm64" },
] as const;
const WINDOWS = { os: "windows", arch: "amd64" } as const;
type Platform = (typeof UNIX)[number] | typeof WINDOWS;

export interface PluginRelease {
  /** The bundled program. Its first line names Node. */
  readonly program: Buffer;
  readonly licence: Buffer;
  /** Without the leading v. */
  readonly version: string;
  /**
   * Where the archives will be downloaded from. Unset: none yet, and krew gets the archive from a file (`--archive`).
   */
  readonly url: string | undefined;
  readonly homepage: string | undefined;
}

export interface ReleaseFile {
  /** From the folder of the release. */
  readonly path: string;
  readonly content: Buffer;
}

/** The archives, their checksums, and the manifest. */
export function packPlugin(release: PluginRelease): readonly ReleaseFile[] {
  const archives = [...UNIX, WINDOWS].map((platform) => ({
    platform,
    path: `kubectl-firebolt_${platform.os}_${platform.arch}.tar.gz`,
    content: gzipSync(createTar(filesFor(platform, release), 0), { level: 9 }),
  }));
  const sums = archives.map(({ path, content }) => `${sha256(content)}  ${path}\n`).join("");
  return [
    ...archives.map(({ path, content }) => ({ path, content })),
    { path: "kubectl-firebolt_checksums.txt", content: Buffer.from(sums) },
    {
      path: "krew/firebolt.yaml",
      content: Buffer.from(stringify(krewManifest(release, archives), { lineWidth: 0 })),
    },
  ];
}

function filesFor({ os }: Platform, { program, licence }: PluginRelease): readonly TarFile[] {
  const text = { path: "LICENSE", content: licence, mode: 0o644 };
  if (os !== "windows") return [{ path: "kubectl-firebolt", content: program, mode: 0o755 }, text];
  // Windows does not read the first line of a program.
  const launcher = '@node "%~dp0kubectl-firebolt.mjs" %*\r\n';
  return [
    { path: "kubectl-firebolt.cmd", content: launcher, mode: 0o755 },
    { path: "kubectl-firebolt.mjs", content: program, mode: 0o755 },
    text,
  ];
}

interface Archive {
  readonly platform: Platform;
  readonly path: string;
  readonly content: Buffer;
}

/** Without Windows: krew starts nothing there but .exe files. */
function krewManifest({ version, url, homepage }: PluginRelease, archives: readonly Archive[]) {
  return {
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name: "firebolt" },
    spec: {
      version: `v${version}`,
      ...(homepage !== undefined && { homepage }),
      shortDescription: "See, plan, change and diagnose Firebolt engines",
      description:
        "Shows instances, engines, generations and pods as a tree, with the reason for anything that is waiting; previews a change before\n" +
        "you apply it; creates, scales, stops, starts and wakes engines; follows rollouts; collects logs and redacted support bundles.\n",
      caveats: "Needs Node 22.12 or newer in the path, and kubectl to forward ports.\n",
      platforms: archives
        .filter(({ platform }) => platform.os !== "windows")
        .map(({ platform, path, content }) => ({
          selector: { matchLabels: { os: platform.os, arch: platform.arch } },
          uri: url === undefined ? path : `${url.replace(/\/+$/, "")}/${path}`,
          sha256: sha256(content),
          files: ["kubectl-firebolt", "LICENSE"].map((from) => ({ from, to: "." })),
          bin: "kubectl-firebolt",
        })),
    },
  };
}

function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
