// A stand-in for the metadata image's program: reads its configuration and credentials, keeps its account in PostgreSQL, and
// serves gRPC health checks as long as the database responds: `main.ts --config <file>`.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openAccount } from "./account-store.ts";
import { createHealthServer } from "./grpc-health.ts";
import { type MetadataConfig, parseMetadataConfig } from "./metadata-config.ts";
import { openPostgres, type PostgresConnection } from "./postgres-connection.ts";

const DATABASE_PATIENCE_MS = 60_000;
const RETRY_MS = 200;
const PING_MS = 1_000;

const log = (message: string, fields: object = {}): void => {
  process.stdout.write(`${JSON.stringify({ message, ...fields })}\n`);
};

/** Switches for tests; the real program has none of them. */
interface Knobs {
  readonly startDelayMs: number;
  readonly refuseStart: boolean;
  readonly notServing: boolean;
  readonly patienceMs: number;
  /** Refuses the other format, as each release of the image does. */
  readonly onlyFormat: string | undefined;
}

function readKnobs(env: NodeJS.ProcessEnv): Knobs {
  return {
    startDelayMs: Number(env["FAKE_START_DELAY_MS"] ?? 0),
    refuseStart: env["FAKE_REFUSE_START"] === "1",
    notServing: env["FAKE_NOT_SERVING"] === "1",
    patienceMs: Number(env["FAKE_DATABASE_PATIENCE_MS"] ?? DATABASE_PATIENCE_MS),
    onlyFormat: env["FAKE_ONLY_FORMAT"],
  };
}

function credential(variable: string): string {
  const file = process.env[variable];
  if (file === undefined) throw new Error(`${variable} is not set`);
  const value = readFileSync(file, "utf8");
  if (value === "") throw new Error(`${file} is empty`);
  return value;
}

async function openDatabase(config: MetadataConfig): Promise<PostgresConnection> {
  const connection = await openPostgres({
    host: config.postgres.host,
    port: config.postgres.port,
    database: config.postgres.database,
    user: credential("POSTGRES_USERNAME_FILE"),
    password: credential("POSTGRES_PASSWORD_FILE"),
    deadlineMs: config.postgres.connectTimeoutMs,
  });
  try {
    log("account opened", await openAccount(connection, config.postgres.schema, config.accountId));
  } catch (error) {
    connection.close();
    throw error;
  }
  return connection;
}

async function openDatabasePatiently(config: MetadataConfig, patienceMs: number): Promise<PostgresConnection> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await openDatabase(config);
    } catch (error) {
      if (performance.now() + RETRY_MS > deadlineMs) throw error;
      log("database not usable yet", { reason: String(error) });
      await sleep(RETRY_MS);
    }
  }
}

/** Usable means that the database responds: the service serves exactly while it does. */
async function watchDatabase(
  config: MetadataConfig,
  first: PostgresConnection,
  report: (usable: boolean) => void,
): Promise<never> {
  let connection: PostgresConnection | undefined = first;
  for (;;) {
    try {
      connection ??= await openDatabase(config);
      await connection.query("SELECT 1");
      report(true);
    } catch (error) {
      report(false);
      log("database lost", { reason: String(error) });
      connection?.close();
      connection = undefined;
    }
    await sleep(PING_MS);
  }
}

async function main(configFile: string, knobs: Knobs): Promise<void> {
  const config = parseMetadataConfig(readFileSync(configFile, "utf8"));
  if (knobs.refuseStart) throw new Error("start rejected by FAKE_REFUSE_START");
  if (knobs.onlyFormat !== undefined && knobs.onlyFormat !== config.format)
    throw new Error(`the configuration is ${config.format}, this release reads ${knobs.onlyFormat} only`);
  await sleep(knobs.startDelayMs);
  const connection = await openDatabasePatiently(config, knobs.patienceMs);
  let usable = true;
  const server = createHealthServer(() => usable && !knobs.notServing);
  server.listen(config.port, config.host);
  await once(server, "listening");
  log("listening", { host: config.host, port: config.port });
  await watchDatabase(config, connection, (now) => {
    usable = now;
  });
}

const { values } = parseArgs({ options: { config: { type: "string" } }, strict: true });
if (values.config === undefined) throw new Error("--config is missing");
process.once("SIGTERM", () => process.exit(0));
await main(values.config, readKnobs(process.env));
