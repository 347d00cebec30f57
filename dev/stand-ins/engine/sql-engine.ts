// Computes queries for real, in an embedded database that holds no data: results are results, and bad SQL is told by the database's
// own message. Everything that would change or reach something is refused.
import { constants, DatabaseSync } from "node:sqlite";
import { prepareText, StatementError } from "./sql-text.ts";

export interface Column {
  readonly name: string;
  readonly type: "long" | "double" | "text" | "bytea" | "null";
}

export interface SqlResult {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
}

export type RunSql = (sql: string) => SqlResult;

const ALLOWED: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
]);
/** The database's message for a rejected action. */
const REFUSED = "not authorized";

/** Answers a function that runs one query to its end; queries that wait must not come here. */
export function openSqlEngine(): RunSql {
  const database = new DatabaseSync(":memory:");
  database.setAuthorizer((action) => (ALLOWED.has(action) ? constants.SQLITE_OK : constants.SQLITE_DENY));
  return (sql) => {
    try {
      const statement = database.prepare(prepareText(sql));
      statement.setReturnArrays(true);
      statement.setReadBigInts(true);
      const rows = statement.all().map((row) => Object.values(row).map(toJson));
      return { columns: statement.columns().map(({ name }, at) => ({ name, type: typeOf(rows[0]?.[at]) })), rows };
    } catch (error) {
      throw isDatabaseError(error) ? new StatementError(explain(error.message)) : error;
    }
  };
}

/** The second is what an empty statement gives. */
const isDatabaseError = (error: unknown): error is Error =>
  error instanceof Error &&
  "code" in error &&
  (error.code === "ERR_SQLITE_ERROR" || error.code === "ERR_INVALID_ARG_VALUE");

const explain = (message: string): string =>
  message.includes(REFUSED) ? `${message}: this engine answers queries and keeps no data` : message;

/** Whole numbers beyond what JSON readers keep exactly are text, as the real engine writes them. */
function toJson(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : value;
}

/** The database types values, not columns: the first row tells. */
function typeOf(value: unknown): Column["type"] {
  if (typeof value === "number") return Number.isInteger(value) ? "long" : "double";
  if (typeof value === "string") return value.startsWith("\\x") ? "bytea" : "text";
  return "null";
}
