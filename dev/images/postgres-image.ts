// The image of the internal database: this machine's real PostgreSQL behind the environment, user, folders and programs that the
// operator's pod expects of the usual image.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SYSTEM_PROGRAMS } from "../assets/system/programs.ts";
import { folderFiles, programFiles, SHELL_LINK, shellPrograms } from "./host-programs.ts";
import { type ImagePlan, localSettings, type Workbench } from "./image-plan.ts";
import { baseFolders, userFiles } from "./node-base.ts";
import type { TarEntry } from "./tar.ts";

const USER = 70;
const HOME = "var/lib/postgresql";
const ENTRYPOINT = "usr/local/bin/postgres-entrypoint";
/** Server, initdb, the programs of probes, backup and restore. */
const PROGRAMS = ["postgres", "initdb", "pg_isready", "pg_controldata", "psql", "pg_dump", "pg_restore"];
/** The language and dictionaries that every cluster has, replication, and conversions between encodings. */
const MODULES = /^(plpgsql|dict_snowball|libpqwalreceiver|pgoutput|pg_stat_statements|\w+_and_\w+)\.so$/;
/** Everything but manuals and extensions whose modules are left out. */
const SHARED = /^(?!man\/|contrib\/|extension\/(?!plpgsql|pg_stat_statements))/;
const ZONES = ["UTC", "GMT", "Etc/UTC", "Etc/GMT"];
const ZONE_FOLDER = "/usr/share/zoneinfo";

export function planPostgresImage({ architecture }: Workbench): ImagePlan {
  const bin = SYSTEM_PROGRAMS["postgres"]?.find();
  if (bin === undefined)
    throw new Error("no PostgreSQL server: install the package postgresql, or name its folder in POSTGRES_BIN");
  const script = readFileSync(join(import.meta.dirname, "postgres-entrypoint.sh"));
  const programs = PROGRAMS.map((name) => ({ from: join(bin, name), to: join(bin, name).slice(1) }));
  const shell = shellPrograms(["chmod", "mv", "rm"]);
  return {
    version: versionOf(bin),
    machineFiles: [...programs, ...shell].map(({ from }) => from),
    contents: [script],
    compose: () => ({
      layers: [
        {
          comment: "postgresql",
          entries: [
            ...programFiles([...programs, ...shell, ...modulesOf(bin)]),
            ...folderFiles(settingOf(bin, "sharedir"), settingOf(bin, "sharedir").slice(1), (path) =>
              SHARED.test(path),
            ),
            ...zoneFiles(),
            SHELL_LINK,
            { type: "file", path: ENTRYPOINT, content: script, mode: 0o755 },
            ...baseFolders(),
            { type: "folder", path: HOME, mode: 0o700, uid: USER, gid: USER },
            { type: "folder", path: "var/run/postgresql", mode: 0o3777, uid: USER, gid: USER },
            ...userFiles({ name: "postgres", id: USER, home: `/${HOME}` }),
          ],
        },
      ],
      settings: localSettings(
        {
          architecture,
          user: `${USER}:${USER}`,
          environment: [`PATH=/usr/local/bin:${bin}:/usr/bin:/bin`, `PGDATA=/${HOME}/data`],
          entrypoint: [`/${ENTRYPOINT}`],
          // SIGTERM would wait until every client has left.
          stopSignal: "SIGINT",
        },
        "postgresql",
      ),
    }),
  };
}

function modulesOf(bin: string) {
  const folder = settingOf(bin, "pkglibdir");
  return folderFiles(folder, folder, (path) => MODULES.test(path)).map(({ path }) => ({
    from: path,
    to: path.slice(1),
  }));
}

/** Times are kept in UTC; where the machine has no time zones the server's own GMT serves. */
function zoneFiles(): readonly TarEntry[] {
  return ZONES.map((zone) => join(ZONE_FOLDER, zone))
    .filter((path) => existsSync(path))
    .map((path): TarEntry => ({ type: "file", path: path.slice(1), content: readFileSync(path) }));
}

const settingOf = (bin: string, name: "sharedir" | "pkglibdir"): string =>
  execFileSync(join(bin, "pg_config"), [`--${name}`], { encoding: "utf8" }).trim();

function versionOf(bin: string): string {
  const text = execFileSync(join(bin, "postgres"), ["--version"], { encoding: "utf8" });
  const version = /\(PostgreSQL\) (\S+)/.exec(text)?.[1];
  if (version === undefined)
    throw new Error(`${bin}/postgres --version printed ${text.trim()}, which contains no version`);
  return version;
}
