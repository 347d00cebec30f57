// Removes every value whose name announces a secret or a query: `name=value`, `"name": "value"` at any depth of
// escaping, `--name value`, `NAME 'value'`, `["name", "value"]`, `{"name": "…", "value": "…"}`, YAML lines. Names
// stay. Pure.
import { valueInProse } from "./prose-values.ts";
import { REDACTED } from "./redacted.ts";
import { meaningOf, type NameMeaning } from "./secret-names.ts";
import { enclosingEnd, gapAt, LOG_TIME, lineEndOf, match, quotedAt, type ValueRange, valueAt } from "./value-range.ts";

const NAME = /[A-Za-z_$][\w$.-]*/g;
const SEPARATOR = /(?:\\*["'`]|&quot;|%22)?\]?[ \t]*(?::=|=>|==?|:|%(?:25)*3[ad]|&#61;|&#x3d;)[ \t]*/iy;
/** Of what begins with a dash, only that which is no flag: `-x`, `-level`, `--level`. */
const FLAG_VALUE =
  /(?:[ \t]*,[ \t]*|[ \t]*\\?\n(?:\d{4}-\d\d-\d\dT\S+ )?[ \t]*(?:- )?|[ \t]+)(?!--|-[A-Za-z](?![^\s\]])|-[a-z][a-z-]*(?![^\s=\]]))/y;
/** A new line as JSON writes it. */
const ESCAPED_LINE = /(?:\\+[nrt][ \t]*)+/y;
const LITERAL = /(?:\\*["`])?[ \t]+(?=(?:[EeNn]|[Uu]&)?\\*'|\$\w*\$)/y;
const NEXT_IN_LIST = /\\*["'`][ \t]*,(?:[ \t]|\\+[nrt]|\n(?:\d{4}-\d\d-\d\dT\S+ )?)*(?=\\*["'`])/y;
/**
 * What may stand before a name that begins its line: the time that the log reader adds, indentation, a dash, a quote.
 */
const LINE_LEAD = /^(?:\d{4}-\d\d-\d\dT\S+ )?[ \t]*(?:- )?(?:export )?["']?$/;
const HARMLESS = /^(?:-?\d{1,5}(?:\.\d+)?|true|false|null|nil|none|)$/i;
const VERSION = /^(?:v?\d+(?:\.\d+)+[\w.-]*|latest)(?:@sha256:[0-9a-f]+)?$/;

export function scrubNamedValues(text: string): string {
  let [result, done] = ["", 0];
  NAME.lastIndex = 0;
  for (let found = NAME.exec(text); found !== null; found = NAME.exec(text)) {
    const meaning = meaningOf(found[0]);
    if (meaning === "harmless") continue;
    const name = { text: found[0], start: found.index, end: found.index + found[0].length };
    const value = findValue(text, name, meaning);
    // Nested values are removed with the outer one.
    if (value === undefined || value.start < done) continue;
    result += text.slice(done, value.start) + REDACTED;
    done = value.end;
    NAME.lastIndex = Math.max(value.next, name.end);
  }
  return result + text.slice(done);
}

interface Name {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function findValue(text: string, name: Name, meaning: NameMeaning): ValueRange | undefined {
  const separator = match(SEPARATOR, text, name.end);
  const found =
    separator === undefined
      ? (withoutSeparator(text, name) ?? valueInProse(text, name, meaning))
      : behindSeparator(text, name, { at: name.end + separator[0].length, separator: separator[0], meaning });
  if (found === undefined) return undefined;
  const content = text.slice(found.start, found.end);
  if (content === REDACTED || (meaning === "weak secret" && HARMLESS.test(content))) return undefined;
  // `query: done` is prose; sql-text.ts recognises statements.
  if (meaning === "query" && found.form !== "quoted") return undefined;
  return found;
}

interface Separated {
  readonly at: number;
  readonly separator: string;
  readonly meaning: NameMeaning;
}

function behindSeparator(
  text: string,
  name: Name,
  { at: from, separator, meaning }: Separated,
): ValueRange | undefined {
  const lineStart = text.lastIndexOf("\n", name.start - 1) + 1;
  if (from >= lineEndOf(text, from)) return onNextLine(text, from, lineStart);
  const at = from + (match(ESCAPED_LINE, text, from)?.[0].length ?? 0);
  const value = valueAt(text, at);
  if (value === undefined || value.form === "quoted") return value;
  if (value.form === "bracket") {
    const isOpen = value.end >= lineEndOf(text, at) && !/[)\]}]\s*$/.test(text.slice(value.end - 2, value.end));
    const end = isOpen ? blockEnd(text, at, indentation(text.slice(lineStart, at))) : value.end;
    return { ...value, end, next: end };
  }
  const bare = (end: number): ValueRange => ({ ...value, end, next: end });
  if (meaning === "header") return bare(enclosingEnd(text, at, ['"', "'"]));
  const word = text.slice(value.start, value.end);
  // `registry/token-service:1.2` is an image.
  if (separator === ":" && text.charAt(name.start - 1) === "/" && VERSION.test(word)) return undefined;
  if (word === "\\" && value.end >= lineEndOf(text, at)) return bare(lineEndOf(text, value.end + 1));
  const lead = text.slice(lineStart, name.start);
  if (!LINE_LEAD.test(lead) || !/^[:=]/.test(separator.trim())) return value;
  if (/^[|>][-+\d]*$/.test(word)) return bare(blockEnd(text, at, indentation(lead)));
  // A line of a file, with all the spaces and separators that a value may have.
  return bare(lineEndOf(text, at));
}

function withoutSeparator(text: string, name: Name): ValueRange | undefined {
  const { start, end } = name;
  const list = match(NEXT_IN_LIST, text, end);
  if (list !== undefined) {
    const next = quotedAt(text, end + list[0].length);
    // What has a colon behind it is the next name.
    return next !== undefined && !/^[ \t]*:/.test(text.slice(next.next)) ? next : undefined;
  }
  const literal = match(LITERAL, text, end);
  if (literal !== undefined) return quotedAt(text, end + literal[0].length);
  const isFlag = /(?:^|[\s"'`[(=,])-{1,2}$/.test(text.slice(Math.max(0, start - 3), start));
  const gap = isFlag ? match(FLAG_VALUE, text, end) : undefined;
  return gap === undefined ? undefined : valueAt(text, end + gap[0].length);
}

/** A value below its name: a quoted string anywhere, anything else when it is indented deeper or an entry of a list. */
function onNextLine(text: string, end: number, lineStart: number): ValueRange | undefined {
  const at = end + gapAt(text, end);
  if (at >= text.length || text.charAt(end) !== "\n") return undefined;
  const quoted = quotedAt(text, at);
  if (quoted !== undefined) return /^[ \t]*:/.test(text.slice(quoted.next, quoted.next + 8)) ? undefined : quoted;
  const depth = indentation(text.slice(lineStart, end));
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, lineEndOf(text, at));
  const isEntry = text.startsWith("- ", at) && indentation(line) === depth;
  if (!isEntry && indentation(line) <= depth) return undefined;
  const stop = isEntry ? lineEndOf(text, at) : blockEnd(text, end, depth);
  return { start: at, end: stop, next: stop, form: "bracket" };
}

const indentation = (line: string): number => /^[ \t]*/.exec(line.replace(LOG_TIME, ""))?.[0].length ?? 0;

/** A YAML block goes on as long as lines are indented deeper than its name. */
function blockEnd(text: string, at: number, depth: number): number {
  let end = lineEndOf(text, at);
  while (end < text.length) {
    const next = lineEndOf(text, end + 1);
    const line = text.slice(end + 1, next);
    if (line.replace(LOG_TIME, "").trim() !== "" && indentation(line) <= depth) break;
    end = next;
  }
  return end;
}
