// Takes statements out of a text: what stands in a query (names of customers, literals, credentials of an external table) is nobody
// else's business, and no pattern knows all of it. The first words stay, so that a reader sees what kind of statement it was. Pure.
import { REDACTED } from "./redacted.ts";
import { enclosingEnd, LOG_TIME, quotedAt } from "./value-range.ts";

const OBJECT =
  "(?:TABLE|VIEW|INDEX|USER|LOGIN|ROLE|DATABASE|SCHEMA|LOCATION|ENGINE|FUNCTION|SECRET|ACCOUNT|EXTENSION|SEQUENCE|TYPE)";
const MODIFIERS = "(?:(?:OR\\s+REPLACE|EXTERNAL|AGGREGATING|TEMP|TEMPORARY|UNIQUE|MATERIALIZED|FACT|DIMENSION)\\s+)*";

/** Words of SQL that are no English when they stand together, in any case of letters. */
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
/** Words that prose has as well, but not in capitals. */
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

/** How a statement goes on in the next line: indented, with a keyword, or with what only SQL begins a line with. */
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

/** More than these in one line are no log for people: the rest goes. */
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

/** Words after which a text in single quotes is a literal, whatever stands between: in prose they cost a quoted word. */
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
