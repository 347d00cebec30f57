// Makes sure of the distribution's programs before the tests: `node dev/system/main.ts postgres ip …`. As root on Debian or Ubuntu it
// installs what is missing and says so; elsewhere it prints the exact command and fails.
import { spawnSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { isExecutable, SYSTEM_PROGRAMS, type SystemProgram, unpackedFolder } from "./programs.ts";

const say = (line: string): void => console.error(line);

function main(wanted: readonly string[]): number {
  const unknown = wanted.filter((name) => SYSTEM_PROGRAMS[name] === undefined);
  if (unknown.length > 0) {
    say(`unknown program ${unknown.join(", ")}: known are ${Object.keys(SYSTEM_PROGRAMS).join(", ")}`);
    return 2;
  }
  const missing = wanted.flatMap((name) => SYSTEM_PROGRAMS[name] ?? []).filter((one) => one.find() === undefined);
  if (missing.length === 0) return 0;
  const canInstall =
    process.getuid?.() === 0 && isExecutable("/usr/bin/apt-get") && !process.env["FIREBOLT_NO_INSTALL"];
  const commands = ["apt-get update", ...missing.map(commandFor)];
  if (!canInstall) {
    say(`missing: ${missing.map((one) => one.package).join(", ")}. On Debian or Ubuntu run, as root:`);
    for (const command of commands) say(`  ${command}`);
    return 1;
  }
  for (const command of commands) if (!run(command)) return 1;
  for (const program of missing) if (program.unpacked) keep(program);
  return 0;
}

const unfinished = ({ package: name }: SystemProgram): string => `${unpackedFolder(name)}.${process.pid}`;

function commandFor(program: SystemProgram): string {
  if (!program.unpacked) return `apt-get install -y --no-install-recommends ${program.package}`;
  const folder = unfinished(program);
  return `mkdir -p ${folder} && cd ${folder} && apt-get -o APT::Sandbox::User=root download ${program.package} && dpkg-deb -x ${program.package}_*.deb .`;
}

/** In one step, so that nobody finds half a package. */
function keep(program: SystemProgram): void {
  const folder = unpackedFolder(program.package);
  mkdirSync(folder, { recursive: true });
  rmSync(folder, { recursive: true });
  renameSync(unfinished(program), folder);
}

function run(command: string): boolean {
  say(`$ ${command}`);
  const { status } = spawnSync("sh", ["-c", command], {
    stdio: ["ignore", 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  if (status !== 0) say(`that failed; run it yourself, as root:\n  ${command}`);
  return status === 0;
}

process.exitCode = main(process.argv.slice(2));
