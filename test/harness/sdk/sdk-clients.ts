// The SDKs of Firebolt, as released, run as programs of their own: Python's from PyPI and Node's from npm. A missing prerequisite is an
// error, never a skip.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Workspace } from "@firebolt-operator/kube/testing";
import { resolvePythonPackages } from "../../../dev/assets/python-packages.ts";

export const SDKS = ["python", "npm"] as const;
export type Sdk = (typeof SDKS)[number];

const DEADLINE_MS = 240_000;

/** One value of every type that an engine returns, by column. */
export const EVERY_TYPE = `SELECT ${[
  "1::int AS i",
  "9007199254740993::bigint AS l",
  "1.5::real AS f",
  "'-inf'::double precision AS d",
  "'12345678901234567890.123456789'::numeric(38, 9) AS n",
  "'ä;x'::text AS t",
  "'2024-02-29'::date AS dt",
  "'2024-02-29 10:11:12.5'::timestampntz AS ts",
  "'2024-02-29 10:11:12.5+00'::timestamptz AS tz",
  "true::boolean AS b",
  "'\\x0aff'::bytea AS x",
  "'[1,null,3]'::array(int null) AS a",
  `'{"a":1,"b":"x"}'::struct(a int, b text) AS s`,
  "'0101000020E6100000'::geography AS g",
  "null::int AS nl",
  "NULL AS nn",
].join(", ")}`;

export interface SdkOptions {
  readonly workspace: Workspace;
  /** Names that lead to an address, as /etc/hosts has them; most machines resolve no name below localhost. */
  readonly hosts: Readonly<Record<string, string>>;
}

/** Bind-mounts its first argument over /etc/hosts in a mount namespace of its own, and becomes the rest. */
const WITH_HOSTS = ["--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"'];

export interface SdkRun {
  /** Names of the pods that have answered so far, one per line, while `load` runs. */
  output(): string;
  /** Ends what runs until it is told to, and returns what the program printed. */
  finish(): Promise<unknown>;
}

/** What `load` prints. */
export interface SdkLoad {
  readonly sent: number;
  readonly failures: readonly string[];
  /** Results by pod. */
  readonly pods: Readonly<Record<string, number>>;
}

/** Starts `check` or `load` of the program against this URL. */
export async function startSdk(sdk: Sdk, args: readonly string[], { workspace, hosts }: SdkOptions): Promise<SdkRun> {
  const lines = Object.entries(hosts).map(([name, address]) => `${address} ${name}`);
  const file = workspace.write(`hosts-${sdk}`, `127.0.0.1 localhost\n${lines.join("\n")}\n`);
  const program =
    sdk === "python"
      ? ["python3", join(import.meta.dirname, "client.py")]
      : [process.execPath, join(import.meta.dirname, "client.mjs")];
  const child = spawn("unshare", [...WITH_HOSTS, file, ...program, ...args], {
    env: {
      ...process.env,
      TZ: "UTC",
      ...(sdk === "python" ? { PYTHONPATH: await resolvePythonPackages("firebolt-sdk") } : {}),
    },
    stdio: ["pipe", "pipe", "pipe"],
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  let [out, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const closed = once(child, "close");
  return {
    output: () => errors,
    async finish() {
      child.stdin.end();
      const [code] = await closed;
      if (code !== 0) throw new Error(`the ${sdk} SDK exited with ${code}:\n${errors.slice(-4_000)}`);
      return JSON.parse(out);
    },
  };
}

export async function checkWithSdk(sdk: Sdk, url: string, options: SdkOptions): Promise<unknown> {
  const run = await startSdk(sdk, ["check", url, EVERY_TYPE], options);
  return run.finish();
}
