// A separate, real PostgreSQL: a fresh cluster below a workspace, on a loopback port, removed with the workspace. The
// server does not run as root, so under root it runs as an unprivileged user.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { findFreePorts, type ManagedProcess, startProcess, type Workspace } from "@firebolt-operator/kube/testing";
import { SYSTEM_PROGRAMS } from "../../../dev/assets/system/programs.ts";
import { openPostgres, type PostgresConnection } from "../../../dev/stand-ins/metadata/postgres-connection.ts";

const SUPERUSER = "postgres";
const INITDB_MS = 120_000;
const READY_MS = 90_000;
const QUERY_MS = 60_000;

export interface Login {
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

export interface Postgres {
  readonly host: string;
  readonly port: number;
  readonly process: ManagedProcess;
  /** A connection as this user. */
  connect(login: Login): Promise<PostgresConnection>;
  /** What the image does at first start: a user and a database that belongs to it. */
  provision(login: Login): Promise<void>;
  /** Ends the server at once, keeping its data. */
  stop(): Promise<void>;
  /** Starts it again on the same data and port. */
  start(): Promise<void>;
}

/** POSTGRES_BIN wins; otherwise the newest server that the distribution installed. A missing server is an error, never a skip. */
export function postgresBinaries(): string {
  const found = SYSTEM_PROGRAMS["postgres"]?.find();
  if (found === undefined)
    throw new Error("no PostgreSQL server: install the package postgresql, or name its folder in POSTGRES_BIN");
  return found;
}

export async function startPostgres(workspace: Workspace): Promise<Postgres> {
  const bin = postgresBinaries();
  const user = await unprivilegedUser();
  const home = join(workspace.folder, "postgres");
  const data = join(home, "data");
  const superPassword = randomBytes(12).toString("hex");
  mkdirSync(home, { mode: 0o700 });
  const passwordFile = workspace.write("postgres/superuser-password", superPassword);
  if (user !== undefined) {
    chmodSync(workspace.folder, 0o711); // Its own folder lies below, and must be reachable.
    for (const path of [home, passwordFile]) chownSync(path, user.uid, user.gid);
  }
  const asUser = (program: string, args: readonly string[]): readonly string[] =>
    user === undefined
      ? [program, ...args]
      : ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", program, ...args];

  const [initdb = "", ...initArgs] = asUser(join(bin, "initdb"), [
    ...["-D", data, "-U", SUPERUSER, "-E", "UTF8", "--locale=C", "--no-sync"],
    ...["--auth=scram-sha-256", `--pwfile=${passwordFile}`],
  ]);
  await promisify(execFile)(initdb, initArgs, { timeout: INITDB_MS, cwd: "/" });

  const [port = 0] = await findFreePorts(1);
  const host = "127.0.0.1";
  const connect = (login: Login): Promise<PostgresConnection> =>
    openPostgres({ host, port, ...login, deadlineMs: QUERY_MS });
  const superuser = { user: SUPERUSER, password: superPassword, database: "postgres" };
  const launch = async (): Promise<ManagedProcess> => {
    const [binary = "", ...args] = asUser(join(bin, "postgres"), [
      ...["-D", data, "-h", host, "-p", String(port)],
      ...["-c", "unix_socket_directories=", "-c", "fsync=off"],
    ]);
    const managed = startProcess(workspace, { name: "postgres", binary, args });
    await managed.waitUntilReady(async () => {
      (await connect(superuser)).close();
      return true;
    }, READY_MS);
    return managed;
  };

  let server = await launch();
  return {
    host,
    port,
    get process() {
      return server;
    },
    connect,
    async provision({ user: name, password, database }) {
      const connection = await connect(superuser);
      try {
        await connection.query(`CREATE ROLE "${name}" LOGIN PASSWORD '${password}'`);
        await connection.query(`CREATE DATABASE "${database}" OWNER "${name}"`);
      } finally {
        connection.close();
      }
    },
    // SIGINT: the fast shutdown. SIGTERM would wait for clients to leave.
    stop: () => server.stop("SIGINT"),
    async start() {
      server = await launch();
    },
  };
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Undefined when this process has no privileges to drop. */
async function unprivilegedUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const id = async (flag: string, name: string): Promise<number> =>
    Number((await promisify(execFile)("id", [flag, name])).stdout);
  const of = async (name: string): Promise<User> => ({ uid: await id("-u", name), gid: await id("-g", name) });
  try {
    return await of("postgres");
  } catch {
    return of("nobody"); // A server that was not installed by the distribution has no user of its own.
  }
}
