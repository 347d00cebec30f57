// The text of a statement, made ready for the embedded database: one statement only, and what the database lacks written as what it
// means: `generate_series(first, last[, step])`, and casts of literals as in `'2024-02-29'::date`. Text in comments is left alone, and
// text in quotes unless it is cast.

/** Under this name the database knows the function that gives a value its type. */
export const CAST_FUNCTION = "typed_value";

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
/** The last alternative is a literal without quotes that is cast. */
const OPENER =
  /'|"|`|\[|--|\/\*|;|generate_series\s*\(\s*(-?\d+)\s*,\s*(-?\d+)\s*(?:,\s*(-?\d+)\s*)?\)|(?<![\w.])(?:-?\d+(?:\.\d+)?|null|true|false)(?=::)/giu;
const CAST = /::(double precision|\w+(?:\((?:[^()]|\([^()]*\))*\))?)/iuy;

/** The statement cannot be run; the message is for its author. */
export class StatementError extends Error {
  override readonly name = "StatementError";
}

export function prepareText(sql: string): string {
  const opener = new RegExp(OPENER);
  const parts: string[] = [];
  let done = 0;
  const replace = (from: number, to: number, text: string): void => {
    parts.push(sql.slice(done, from), text);
    done = to;
    opener.lastIndex = to;
  };
  for (let match = opener.exec(sql); match !== null; match = opener.exec(sql)) {
    const [token, first, last = "", step = "1"] = match;
    if (token === ";") {
      requireNothingAfter(sql, opener.lastIndex);
      break;
    }
    if (first !== undefined) {
      replace(match.index, opener.lastIndex, series(Number(first), Number(last), Number(step)));
      continue;
    }
    const end = token === "'" ? endOfString(sql, opener.lastIndex) : endOfSkipped(sql, token, opener.lastIndex);
    const type = token in CLOSERS && token !== "'" ? undefined : typeAt(sql, end);
    if (type === undefined) opener.lastIndex = end;
    else
      replace(match.index, end + type.length, `${CAST_FUNCTION}('${type.slice(2)}', ${sql.slice(match.index, end)})`);
  }
  return parts.join("") + sql.slice(done);
}

/** After the quote that closes a string; two quotes are one inside it. Not closed: the database has the better error message. */
function endOfString(sql: string, from: number): number {
  for (let quote = sql.indexOf("'", from); quote >= 0; quote = sql.indexOf("'", quote + 2))
    if (sql[quote + 1] !== "'") return quote + 1;
  return sql.length;
}

function endOfSkipped(sql: string, token: string, from: number): number {
  const closer = CLOSERS[token];
  if (closer === undefined) return from;
  const end = sql.indexOf(closer, from);
  return end < 0 ? sql.length : end + closer.length;
}

/** The cast that begins here, with its colons. */
function typeAt(sql: string, at: number): string | undefined {
  const cast = new RegExp(CAST);
  cast.lastIndex = at;
  return cast.exec(sql)?.[0];
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
