// Removes SQL statements: they hold names of customers, literals and credentials of external tables, which no pattern
// recognises completely. The first words are kept, so that the kind of statement is visible. Pure.
import { REDACTED } from "./redacted.ts";
import { enclosingEnd, LOG_TIME, quotedAt } from "./value-range.ts";

const OBJECT =
  "(?:TABLE|VIEW|INDEX|USER|LOGIN|ROLE|DATABASE|SCHEMA|LOCATION|ENGINE|FUNCTION|SECRET|ACCOUNT|EXTENSION|SEQUENCE|TYPE)";
const MODIFIERS = "(?:(?:OR\\s+REPLACE|EXTERNAL|AGGREGATING|TEMP|TEMPORARY|UNIQUE|MATERIALIZED|FACT|DIMENSION)\\s+)*";

/** Words of SQL that are not English in this combination, in any case. */
const ANY_CASE = [
  "INSERT\\s+INTO(?=\\s)",
  "DELETE\\s+FROM(?=\\s)",
  "MERGE\\s+INTO(?=\\s)",
  "TRUNCATE\\s+TABLE(?=\\s)",
  `(?:CREATE|ALTER|DROP)\\s+${MODIFIERS}${OBJECT}(?=\\s)`,
  "UPDATE(?=\\s+\\S+\\s+SET\\s+\\S+\\s*=)",
  "COPY(?=\\s+(?:INTO\\s+)?\\S+\\s+(?:FROM|TO)\\s+')",
  "WITH(?=\\s+\\w+\\s+AS\\s*\\()",
  "SELECT(?=\\s.{0,400}?\\sFROM\\s)",
  "VALUES(?=\\s*\\()",
  "WHERE(?=\\s+\\S+\\s*(?:=|<|>|!=|\\bIN\\b|\\bLIKE\\b))",
  "SET(?=\\s+\\w+\\s*=\\s*')",
  "CREDENTIALS(?=\\s*=?\\s*\\()",
  "IDENTIFIED\\s+BY(?=\\s)",
];
/** Words that also occur in prose, but not in capitals. */
const IN_CAPITALS = [
  "SELECT(?=\\s|$)",
  "COPY(?=\\s)",
  "EXPLAIN(?=\\s)",
  "GRANT(?=\\s.{0,400}?\\sTO\\s)",
  "REVOKE(?=\\s.{0,400}?\\sFROM\\s)",
];
/** PostgreSQL's own lines about statements and rows. */
const POSTGRES = [
  "STATEMENT:(?=\\s)",
  "statement:(?=\\s)",
  "parameters:(?=\\s+\\$1)",
  "Failing row contains",
  "Key(?=\\s+\\()",
];
const HEADS = [
  new RegExp(`\\b(?:${ANY_CASE.join("|")})`, "i"),
  new RegExp(`\\b(?:${[...IN_CAPITALS, ...POSTGRES].join("|")})`),
];

/**
 * How a statement continues on the next line: indented, with a keyword, or with a token that only SQL has at the start
 * of a line.
 */
const CONTINUATION =
  /^(?:\s+\S|[(),';]|\w+\s*=\s*'|(?:FROM|WHERE|AND|OR|(?:LEFT|RIGHT|INNER|OUTER|FULL|CROSS)?\s*JOIN|GROUP|ORDER|HAVING|LIMIT|OFFSET|UNION|VALUES|SET|ON|USING|WITH|AS|CASE|WHEN|THEN|ELSE|END|INTO|RETURNING|TYPE|URL|OBJECT_PATTERN)\b)/i;

export function scrubStatements(text: string): string {
  let open = false;
  const lines = text.split("\n").map((line) => {
    const time = LOG_TIME.exec(line)?.[0] ?? "";
    const said = line.slice(time.length);
    if (open && CONTINUATION.test(said)) {
      open = !said.trimEnd().endsWith(";");
      return `${time}${REDACTED}`;
    }
    const scrubbed = scrubLiterals(scrubLine(said, MOST_STATEMENTS));
    // A statement in quotes ends with them.
    open = scrubbed !== said && scrubbed.endsWith(REDACTED) && !said.trimEnd().endsWith(";");
    return `${time}${scrubbed}`;
  });
  return lines.join("\n");
}

/** Statements per line; the rest of the line is removed. */
const MOST_STATEMENTS = 10;

function scrubLine(line: string, left: number): string {
  const [first] = HEADS.map((head) => head.exec(line))
    .filter((found) => found !== null)
    .sort((a, b) => a.index - b.index);
  if (first === undefined) return line;
  if (left === 0) return line.slice(0, first.index) + REDACTED;
  const from = first.index + first[0].length;
  // Single quotes are the statement's own.
  const end = enclosingEnd(line, first.index, ['"']);
  const rest = line.slice(from, end);
  const kept = rest.trim() === "" || rest.trim() === REDACTED ? rest : ` ${REDACTED}`;
  return line.slice(0, from) + kept + scrubLine(line.slice(end), left - 1);
}

/** Words after which a string in single quotes is a literal; in prose a quoted word is lost. */
const SQL_WORD =
  /\b(?:select|show|call|exec|execute|prepare|explain|describe|declare|like|ilike|values|where|having|between|cast|returning)\b/i;
const LITERAL_START = /(?<=[\s(,=|<>[:]|^)(?:[EeNnBbXx]|[Uu]&)?\\*'|\$\w{0,64}\$/g;

function scrubLiterals(line: string): string {
  const word = SQL_WORD.exec(line);
  if (word === null) return line;
  let [result, done] = ["", 0];
  LITERAL_START.lastIndex = word.index;
  for (let found = LITERAL_START.exec(line); found !== null; found = LITERAL_START.exec(line)) {
    const literal = quotedAt(line, found.index);
    if (literal === undefined) continue;
    result += line.slice(done, literal.start) + REDACTED;
    done = literal.end;
    LITERAL_START.lastIndex = Math.max(literal.next, found.index + 1);
  }
  return result + line.slice(done);
}
