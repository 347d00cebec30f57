// Computes queries for real, in an embedded database that holds no data: results are real, and invalid SQL gets the
// database's message. Statements that would write or access files are rejected.
import { constants, DatabaseSync } from "node:sqlite";
import { CAST_FUNCTION, prepareText, StatementError } from "./sql-text.ts";
import { markValue, readMark, type TypedValue } from "./typed-values.ts";

export interface Column {
  readonly name: string;
  readonly type: string;
}

/** Parameters by their names in the statement, such as `$1`. */
export type SqlParameters = Readonly<Record<string, string | number | null>>;

export interface SqlResult {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
}

export type RunSql = (sql: string, parameters?: SqlParameters) => SqlResult;

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
  database.function(CAST_FUNCTION, { deterministic: true, useBigIntArguments: true }, markValue);
  return (sql, parameters = {}) => {
    try {
      const statement = database.prepare(prepareText(sql));
      statement.setReturnArrays(true);
      statement.setReadBigInts(true);
      const cells = statement.all(parameters).map((row) => Object.values(row).map(readCell));
      const columns = statement.columns().map(({ name }, at) => ({ name, type: cells[0]?.[at]?.type ?? "null" }));
      return { columns, rows: cells.map((row) => row.map(({ value }) => value)) };
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
  message.includes(REFUSED) ? `${message}: this engine computes results and stores no data` : message;

/** Whole numbers beyond what JSON readers keep exactly are text, as the real engine writes them. */
function toJson(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : value;
}

/** The database types values, not columns: the first row determines the type. */
function readCell(stored: unknown): TypedValue {
  const value = toJson(stored);
  return readMark(stored) ?? { type: typeOf(value), value };
}

function typeOf(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? "long" : "double";
  if (typeof value === "string") return value.startsWith("\\x") ? "bytea" : "text";
  return "null";
}
