// The stand-in metadata service against a real PostgreSQL: it serves while it can use its database, and its data outlives it.
import { randomBytes } from "node:crypto";
import { openWorkspace, type Workspace } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import { type Login, type Postgres, startPostgres } from "./support/postgres.ts";
import {
  type StandInMetadata,
  type StandInMetadataOptions,
  startStandInMetadata,
} from "./support/stand-in-metadata.ts";

const ACCOUNT = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
// As the operator generates it: 24 hexadecimal digits.
const LOGIN: Login = { user: "firebolt", password: randomBytes(12).toString("hex"), database: "firebolt_metadata" };

let workspace: Workspace;
let postgres: Postgres;

beforeAll(async () => {
  workspace = openWorkspace("metadata-");
  postgres = await startPostgres(workspace);
  await postgres.provision(LOGIN);
});
afterAll(async () => {
  await postgres.stop();
  await workspace.close();
});

const start = (name: string, options: Partial<StandInMetadataOptions> = {}): Promise<StandInMetadata> =>
  startStandInMetadata(workspace, {
    name,
    accountId: ACCOUNT,
    database: { host: postgres.host, port: postgres.port, database: LOGIN.database },
    user: LOGIN.user,
    password: LOGIN.password,
    ...options,
  });

const untilServing = (metadata: StandInMetadata): Promise<unknown> =>
  metadata.process.waitUntilReady(async () => (await metadata.health()) === "SERVING", 90_000);

const ended = (metadata: StandInMetadata): Promise<string> =>
  eventually(() => metadata.process.ending() ?? false, { describe: "the end of the process" });

async function starts(schema = "public"): Promise<string | null | undefined> {
  const connection = await postgres.connect(LOGIN);
  try {
    const [row] = await connection.query(`SELECT starts FROM "${schema}".accounts WHERE id = '${ACCOUNT}'`);
    return row?.[0];
  } finally {
    connection.close();
  }
}

test.each(["xml", "yaml"] as const)("it serves on a %s configuration and keeps its account", async (format) => {
  const schema = `kept_${format}`;
  const database = { host: postgres.host, port: postgres.port, database: LOGIN.database, schema };
  for (const run of [1, 2]) {
    const metadata = await start(`${format}-${run}`, { format, database });
    await untilServing(metadata);
    expect(await starts(schema)).toBe(String(run));
    await metadata.process.stop();
  }
});

test("a second writer on the same database does not serve", async () => {
  const first = await start("first");
  await untilServing(first);
  const second = await start("second", { env: { FAKE_DATABASE_PATIENCE_MS: "0" } });
  expect(await ended(second)).toContain("exited with code 1");
  expect(second.process.logTail()).toContain("another metadata service");
  await first.process.stop();
});

test("a wrong password ends it", async () => {
  const metadata = await start("wrong", { password: "guessed", env: { FAKE_DATABASE_PATIENCE_MS: "0" } });
  expect(await ended(metadata)).toContain("exited with code 1");
  expect(metadata.process.logTail()).toContain("password authentication failed");
  expect(metadata.process.logTail()).not.toContain("guessed");
});

test("it waits for a database that comes late, and stops serving while the database is away", async () => {
  await postgres.stop();
  const metadata = await start("patient");
  await eventually(() => metadata.process.logTail().includes("database not usable yet"));
  await postgres.start();
  await untilServing(metadata);
  await postgres.stop();
  await eventually(async () => (await metadata.health()) === "NOT_SERVING");
  await postgres.start();
  await untilServing(metadata);
  await metadata.process.stop();
});

test.each([
  { name: "rejects its start", env: { FAKE_REFUSE_START: "1" }, want: "start rejected by FAKE_REFUSE_START" },
  { name: "the other format", env: { FAKE_ONLY_FORMAT: "yaml" }, want: "reads yaml only" },
])("it does not start: $name", async ({ name, env, want }) => {
  const metadata = await start(name.replaceAll(" ", "-"), { env });
  expect(await ended(metadata)).toContain("exited with code 1");
  expect(metadata.process.logTail()).toContain(want);
});

test("it can be up without serving", async () => {
  const metadata = await start("idle", { env: { FAKE_NOT_SERVING: "1" } });
  await metadata.process.waitUntilReady(async () => (await metadata.health()) === "NOT_SERVING", 90_000);
  await metadata.process.stop();
});
