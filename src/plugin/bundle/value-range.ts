// Finds the end of a value in a line: a quoted string at any depth of escaping, a bracket, or a bare word. In doubt
// the value is longer: too much is removed rather than too little. Pure.

export interface ValueRange {
  /** Of what is inside the quotes. */
  readonly start: number;
  readonly end: number;
  /** Behind the closing quote. */
  readonly next: number;
  readonly form: "quoted" | "bracket" | "bare";
}

/** The timestamp that the log reader puts before every line. */
export const LOG_TIME = /^\d{4}-\d\d-\d\dT\S+ /;

/** Between a name and its value: a new line with the time of the log reader before it, or one that JSON has escaped. */
const GAP = /(?:[ \t]|\\+[nrt]|\r?\n(?:\d{4}-\d\d-\d\dT\S+ )?)*/y;

export const gapAt = (text: string, at: number): number => match(GAP, text, at)?.[0].length ?? 0;

const OPENING = /(\\*)(["'`])/y;
/** PostgreSQL's other ways to write a literal: `E'…'`, `U&'…'`, `$tag$…$tag$`. */
const LITERAL_PREFIX = /(?:[EeNnBbXx]|[Uu]&)(?=')/y;
const DOLLAR = /\$\w*\$/y;
const CLOSING_BRACKET: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** The value that begins at `at`, or undefined when the line ends there. */
export function valueAt(text: string, at: number): ValueRange | undefined {
  const quoted = quotedAt(text, at);
  if (quoted !== undefined) return quoted;
  const lineEnd = lineEndOf(text, at);
  if (at >= lineEnd) return undefined;
  if (text.charAt(at) in CLOSING_BRACKET) {
    const end = bracketEnd(text, at, lineEnd);
    return { start: at, end, next: end, form: "bracket" };
  }
  const end = bareEnd(text, at);
  return end === at ? undefined : { start: at, end, next: end, form: "bare" };
}

export function quotedAt(text: string, at: number): ValueRange | undefined {
  const from = at + (match(LITERAL_PREFIX, text, at)?.[0].length ?? 0);
  const opening = match(OPENING, text, from);
  if (opening !== undefined) {
    const [whole, slashes = "", quote = ""] = opening;
    const start = from + whole.length;
    return { start, ...quotedEnd(text, start, { quote, depth: slashes.length }), form: "quoted" };
  }
  const tag = match(DOLLAR, text, at)?.[0];
  if (tag === undefined) return undefined;
  const start = at + tag.length;
  const close = text.indexOf(tag, start);
  const lineEnd = lineEndOf(text, at);
  return close < 0
    ? { start, end: lineEnd, next: lineEnd, form: "quoted" }
    : { start, end: close, next: close + tag.length, form: "quoted" };
}

interface Quote {
  readonly quote: string;
  /** Backslashes before the opening quote: 1 in JSON within JSON, 3 one level deeper. */
  readonly depth: number;
}

/** What may follow the closing quote of a literal. */
const SQL_LITERAL_END = /^(?:[\s,;)]|$)/;

/**
 * Each level of escaping doubles backslashes and adds one before a quote. So a quote closes a string that was opened
 * behind n of them when the run before it is n, plus whole multiples of an escaped backslash (2n + 2). A shorter run
 * closes the string around it.
 */
function quotedEnd(
  text: string,
  start: number,
  { quote, depth }: Quote,
): { readonly end: number; readonly next: number } {
  const lineEnd = lineEndOf(text, start);
  // Within the line: a missing quote would be searched for in the whole log.
  const line = text.slice(0, lineEnd);
  for (let at = line.indexOf(quote, start); at >= 0; at = line.indexOf(quote, at + 1)) {
    const run = backslashesBefore(text, at, start);
    if (run < depth) return { end: at - run, next: at - run };
    if (run % (2 * depth + 2) !== depth) {
      // In standard SQL a backslash is a character like any other, and this quote may be the end: with a literal behind it, that one would
      // be read inside out. Whatever the dialect, no quoted text of the line is left.
      if (quote === "'" && SQL_LITERAL_END.test(line.slice(at + 1, at + 2))) {
        const last = line.lastIndexOf("'");
        return { end: last, next: last + 1 };
      }
      continue;
    }
    // SQL writes a quote inside a literal twice.
    if (quote === "'" && text.charAt(at + 1) === "'") at++;
    else return { end: at - depth, next: at + 1 };
  }
  return { end: lineEnd, next: lineEnd };
}

function backslashesBefore(text: string, at: number, start: number): number {
  let from = at;
  while (from > start && text.charAt(from - 1) === "\\") from--;
  return at - from;
}

/** Behind the closing bracket; brackets inside quotes do not count. */
function bracketEnd(text: string, at: number, lineEnd: number): number {
  const open: string[] = [];
  for (let i = at; i < lineEnd; ) {
    const quoted = /["'`\\]/.test(text.charAt(i)) ? quotedAt(text, i) : undefined;
    if (quoted !== undefined && quoted.next > i) {
      i = quoted.next;
      continue;
    }
    const char = text.charAt(i++);
    const closing = CLOSING_BRACKET[char];
    if (closing !== undefined) open.push(closing);
    else if (char === open.at(-1)) open.pop();
    if (open.length === 0) return i;
  }
  return lineEnd;
}

/** Ends what is around the value: the quote of a string, then nothing or punctuation. */
const QUOTE_STOP = /\\*["'`](?=[\s,;:&)}\]>|\\]|$)/y;
/** A separator is one only when another name, or nothing, follows. */
const SEPARATOR_STOP = /(?:[,;&]|%26)(?=\s|$|\\*["'`]|[\w.$-]+\s*(?:[:=]|%3[ad])|[([{])/iy;
const BRACKET_STOP = /[)}\]>](?=[\s,;:)}\]>]|\\*["'`]|$)/y;

function bareEnd(text: string, at: number): number {
  const lineEnd = lineEndOf(text, at);
  for (let i = at; i < lineEnd; i++) {
    if (/\s/.test(text.charAt(i))) return i;
    if ([QUOTE_STOP, SEPARATOR_STOP, BRACKET_STOP].some((stop) => match(stop, text, i) !== undefined)) return i;
  }
  return lineEnd;
}

/** The end of the string in such quotes around a position, or of its line: for values with spaces in them. */
export function enclosingEnd(text: string, at: number, quotes: readonly string[]): number {
  const lineStart = text.lastIndexOf("\n", at - 1) + 1;
  const lineEnd = lineEndOf(text, at);
  for (const quote of quotes) {
    const code = quote.charCodeAt(0);
    let isOpen = false;
    for (let i = lineStart; i < lineEnd; i++) {
      if (text.charCodeAt(i) !== code || backslashesBefore(text, i, i < at ? lineStart : at) % 2 !== 0) continue;
      if (i < at) isOpen = !isOpen;
      else if (isOpen) return i;
      else break;
    }
  }
  return lineEnd;
}

export function lineEndOf(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

export function match(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
