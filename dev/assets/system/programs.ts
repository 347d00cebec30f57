// Programs that come from the distribution and are not pinned: where each is searched for, and its package. Read-only;
// dev/assets/system/main.ts installs.
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { cacheFolder } from "../cache.ts";

export interface SystemProgram {
  /** The Debian package that holds it. */
  readonly package: string;
  /** Extracted from the package into our cache instead of being installed: the package would start a service. */
  readonly unpacked?: true;
  /** Its path, or its folder for a family of programs; undefined when it does not exist. */
  readonly find: () => string | undefined;
}

const POSTGRES_ROOT = "/usr/lib/postgresql";

export const SYSTEM_PROGRAMS: Readonly<Record<string, SystemProgram>> = {
  postgres: { package: "postgresql", find: () => process.env["POSTGRES_BIN"] ?? findPostgres() },
  ip: { package: "iproute2", find: () => findOnPath("ip") },
  unshare: { package: "util-linux", find: () => findOnPath("unshare") },
  // The node of the local cluster. Installed, containerd would start a service, and runc would replace Docker's
  // packages.
  containerd: {
    package: "containerd",
    unpacked: true,
    find: () => findUnpacked("containerd", "usr/bin/containerd") ?? findOnPath("containerd"),
  },
  runc: {
    package: "runc",
    unpacked: true,
    find: () => findUnpacked("runc", "usr/sbin/runc") ?? findOnPath("runc"),
  },
  /** A folder: the plugins that connect pods to the network. */
  cni: {
    package: "containernetworking-plugins",
    unpacked: true,
    find: () =>
      findCni([join(unpackedFolder("containernetworking-plugins"), "usr/lib/cni"), "/usr/lib/cni", "/opt/cni/bin"]),
  },
  nft: { package: "nftables", find: () => findOnPath("nft") },
  /** Only where wheels are needed and neither pip nor an index is configured. */
  pip: { package: "python3-pip", find: () => findOnPath("pip3") },
  promtool: {
    package: "prometheus",
    unpacked: true,
    find: () => process.env["PROMTOOL"] ?? findOnPath("promtool") ?? findUnpacked("prometheus", "usr/bin/promtool"),
  },
};

/** The path of a program that must exist. */
export function requireProgram(name: string): string {
  const program = SYSTEM_PROGRAMS[name];
  if (program === undefined) throw new Error(`unknown program ${name}`);
  const path = program.find();
  if (path === undefined)
    throw new Error(
      `${name} is missing: run \`node dev/assets/system/main.ts ${name}\`, which installs it or prints the commands`,
    );
  return path;
}

/** Where a package's files are unpacked, keyed by its name. */
export function unpackedFolder(packageName: string): string {
  return join(cacheFolder(process.env), "debian", packageName);
}

function findUnpacked(packageName: string, path: string): string | undefined {
  const file = join(unpackedFolder(packageName), path);
  return isExecutable(file) ? file : undefined;
}

function findOnPath(program: string): string | undefined {
  // System tools are in folders that are not on every user's PATH.
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function findCni(folders: readonly string[]): string | undefined {
  return folders.find((folder) =>
    ["ptp", "host-local", "loopback"].every((plugin) => isExecutable(join(folder, plugin))),
  );
}

/** The newest server: Debian keeps its programs in a folder per version. */
function findPostgres(): string | undefined {
  if (!existsSync(POSTGRES_ROOT)) return undefined;
  const versions = readdirSync(POSTGRES_ROOT).sort((a, b) => Number(b) - Number(a));
  return versions
    .map((version) => join(POSTGRES_ROOT, version, "bin"))
    .find((folder) => isExecutable(join(folder, "postgres")));
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Absent and not executable mean the same here.
  }
}
