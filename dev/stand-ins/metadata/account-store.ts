// What the stand-in metadata service keeps in PostgreSQL: its tables, and the account that it serves. One writer at a time: the
// database itself holds the lock.
import { type PostgresConnection, quoteIdentifier, quoteLiteral } from "./postgres-connection.ts";

/** Any number works, as long as every metadata process uses the same one. */
const WRITER_LOCK = 7_000;

export interface Account {
  readonly id: string;
  /** How many times a metadata service has started on this account: distinguishes data that survived from new data. */
  readonly starts: number;
}

export async function openAccount(connection: PostgresConnection, schema: string, id: string): Promise<Account> {
  const [lock] = await connection.query(`SELECT pg_try_advisory_lock(${WRITER_LOCK})`);
  if (lock?.[0] !== "t") throw new Error("another metadata service is writing to this database");
  const space = quoteIdentifier(schema);
  const accounts = `${space}.accounts`;
  await connection.query(`CREATE SCHEMA IF NOT EXISTS ${space}`);
  await connection.query(
    `CREATE TABLE IF NOT EXISTS ${accounts} (id text PRIMARY KEY, starts integer NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`,
  );
  const [row] = await connection.query(
    `INSERT INTO ${accounts} AS a (id, starts) VALUES (${quoteLiteral(id)}, 1) ` +
      "ON CONFLICT (id) DO UPDATE SET starts = a.starts + 1 RETURNING starts",
  );
  return { id, starts: Number(row?.[0]) };
}
