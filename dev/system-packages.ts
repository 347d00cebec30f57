// Programs that come from the system's package manager rather than from a registry we pin: makes sure of them before the tests.
// As root on Debian or Ubuntu it installs what is missing and says so; elsewhere it prints the exact command and fails.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

interface SystemProgram {
  /** The Debian package that holds it. */
  readonly package: string;
  readonly isPresent: () => boolean;
}

const PROGRAMS: Readonly<Record<string, SystemProgram>> = {
  postgres: { package: "postgresql", isPresent: () => process.env["POSTGRES_BIN"] !== undefined || inPostgresFolder() },
  ip: { package: "iproute2", isPresent: () => onPath("ip") },
  unshare: { package: "util-linux", isPresent: () => onPath("unshare") },
};

function onPath(program: string): boolean {
  // System tools live in folders that are not on everybody's path.
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  return folders.some((folder) => isExecutable(join(folder, program)));
}

/** Debian keeps the server's programs in a folder per version. */
function inPostgresFolder(): boolean {
  const root = "/usr/lib/postgresql";
  return existsSync(root) && readdirSync(root).some((version) => isExecutable(join(root, version, "bin", "postgres")));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Absent and not executable are the same answer here.
  }
}

function main(wanted: readonly string[]): number {
  const unknown = wanted.filter((name) => PROGRAMS[name] === undefined);
  if (unknown.length > 0) {
    console.error(`unknown program ${unknown.join(", ")}: known are ${Object.keys(PROGRAMS).join(", ")}`);
    return 2;
  }
  const missing = wanted.flatMap((name) => PROGRAMS[name] ?? []).filter((program) => !program.isPresent());
  if (missing.length === 0) return 0;
  const packages = [...new Set(missing.map((program) => program.package))];
  const command = `apt-get update && apt-get install -y --no-install-recommends ${packages.join(" ")}`;
  const canInstall =
    process.getuid?.() === 0 && isExecutable("/usr/bin/apt-get") && !process.env["FIREBOLT_NO_INSTALL"];
  if (!canInstall) {
    console.error(`missing: ${packages.join(", ")}. On Debian or Ubuntu run, as root:\n  ${command}`);
    return 1;
  }
  console.error(`installing ${packages.join(", ")}: ${command}`);
  const { status } = spawnSync("sh", ["-c", command], {
    stdio: ["ignore", 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  if (status !== 0) console.error(`installing failed; run it yourself:\n  ${command}`);
  return status ?? 1;
}

process.exitCode = main(process.argv.slice(2));
