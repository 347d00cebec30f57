// Provides programs of the distribution: `node dev/assets/system/main.ts [--no-install] postgres ip …`. As root on Debian or Ubuntu it lists and
// installs what is missing; elsewhere, or with --no-install, it prints the exact commands and fails.
import { spawnSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { isExecutable, SYSTEM_PROGRAMS, type SystemProgram, unpackedFolder } from "./programs.ts";

const say = (line: string): void => console.error(line);

const NO_INSTALL = "--no-install";

function main(args: readonly string[]): number {
  const wanted = args.filter((arg) => arg !== NO_INSTALL);
  const unknown = wanted.filter((name) => SYSTEM_PROGRAMS[name] === undefined);
  if (unknown.length > 0) {
    say(`unknown program ${unknown.join(", ")}: known programs are ${Object.keys(SYSTEM_PROGRAMS).join(", ")}`);
    return 2;
  }
  const missing = wanted.flatMap((name) => SYSTEM_PROGRAMS[name] ?? []).filter((one) => one.find() === undefined);
  if (missing.length === 0) return 0;
  const names = missing.map((one) => one.package).join(", ");
  const mayInstall = !args.includes(NO_INSTALL) && !process.env["FIREBOLT_NO_INSTALL"];
  if (!mayInstall || process.getuid?.() !== 0 || !isExecutable("/usr/bin/apt-get")) {
    say(`missing: ${names}. On Debian or Ubuntu run, as root:`);
    for (const command of commandsFor(missing, ({ package: name }) => unpackedFolder(name))) say(`  ${command}`);
    return 1;
  }
  say(`missing: ${names}; installing …`);
  for (const command of commandsFor(missing, unfinished)) if (!run(command)) return 1;
  for (const program of missing) if (program.unpacked) keep(program);
  return 0;
}

const unfinished = ({ package: name }: SystemProgram): string => `${unpackedFolder(name)}.${process.pid}`;

function commandsFor(
  missing: readonly SystemProgram[],
  folderOf: (program: SystemProgram) => string,
): readonly string[] {
  return ["apt-get update", ...missing.map((program) => commandFor(program, folderOf(program)))];
}

function commandFor(program: SystemProgram, folder: string): string {
  if (!program.unpacked) return `apt-get install -y --no-install-recommends ${program.package}`;
  return `mkdir -p ${folder} && cd ${folder} && apt-get -o APT::Sandbox::User=root download ${program.package} && dpkg-deb -x ${program.package}_*.deb .`;
}

/** In one step, so that no process finds half a package. */
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
  if (status !== 0) say(`the command failed; run it as root:\n  ${command}`);
  return status === 0;
}

process.exitCode = main(process.argv.slice(2));
