// The text of a statement, made ready for the embedded database: one statement only, and `generate_series(first, last[, step])`,
// which the database lacks, written as what it means. Text in quotes and comments is left alone.

/** More rows than this would hold up every other query of the process. */
const MAX_SERIES_ROWS = 1_000_000;

const CLOSERS: Readonly<Record<string, string>> = {
  "'": "'",
  '"': '"',
  "`": "`",
  "[": "]",
  "--": "\n",
  "/*": "*/",
};
const OPENER = /'|"|`|\[|--|\/\*|;|generate_series\s*\(\s*(-?\d+)\s*,\s*(-?\d+)\s*(?:,\s*(-?\d+)\s*)?\)/giu;

/** The statement cannot be run; the message is for its author. */
export class StatementError extends Error {
  override readonly name = "StatementError";
}

export function prepareText(sql: string): string {
  const opener = new RegExp(OPENER);
  const parts: string[] = [];
  let done = 0;
  for (let match = opener.exec(sql); match !== null; match = opener.exec(sql)) {
    const [token, first = "", last = "", step = "1"] = match;
    const closer = CLOSERS[token];
    if (closer !== undefined) {
      const end = sql.indexOf(closer, opener.lastIndex);
      // Not closed: the database has the better error message.
      opener.lastIndex = end < 0 ? sql.length : end + closer.length;
    } else if (token === ";") {
      requireNothingAfter(sql, opener.lastIndex);
      break;
    } else {
      parts.push(sql.slice(done, match.index), series(Number(first), Number(last), Number(step)));
      done = opener.lastIndex;
    }
  }
  return parts.join("") + sql.slice(done);
}

function requireNothingAfter(sql: string, end: number): void {
  const rest = sql.slice(end).trimStart();
  if (rest !== "" && !rest.startsWith("--") && !rest.startsWith("/*"))
    throw new StatementError("only one statement at a time");
}

function series(first: number, last: number, step: number): string {
  if (step === 0) throw new StatementError("generate_series: the step must not be 0");
  const rows = Math.max(0, Math.floor((last - first) / step) + 1);
  if (rows > MAX_SERIES_ROWS)
    throw new StatementError(`generate_series: ${rows} rows are more than the ${MAX_SERIES_ROWS} this engine makes`);
  return `(WITH RECURSIVE series(value, n) AS (SELECT ${first}, 1 WHERE ${rows} > 0 UNION ALL SELECT value + ${step}, n + 1 FROM series WHERE n < ${rows}) SELECT value FROM series)`;
}
