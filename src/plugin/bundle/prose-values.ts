// Secrets in sentences: `password is x`, `using password "x"`, `token x`. Not every sentence is recognised, which is
// why users review a bundle before they send it. Pure.
import type { NameMeaning } from "./secret-names.ts";
import { enclosingEnd, match, quotedAt, type ValueRange, valueAt } from "./value-range.ts";

/** Names that never introduce an object: `secret "lake-tls" not found` is about an object, `password "x"` is not. */
const PASSWORD = /pass(?:word|wd|phrase|code|wort)|pwd|^creds?$|credential/i;
const LINK = /["'`]?(?:[ \t]+(?:is|was|are|to|as|set to|equals)[ \t]+(?:now[ \t]+)?|[ \t]*(?:->|\u2192|\|)[ \t]*)/iy;
const GAP = /[ \t]+/y;
/** What may follow `password is` without being one. */
const NO_PASSWORD =
  /^(?:a|an|the|not|no|now|in|on|of|be|by|too|only|also|still|set|unset|empty|missing|required|optional|invalid|valid|wrong|incorrect|correct|expired|expiring|changed|unchanged|rotated|read|stored|kept|used|unused|given|absent|present|needed|defined|undefined|disabled|enabled|rejected|accepted|authenticate|connect|log|login|secret|file|kubernetes|redacted|null|none|true|false)[.,;:!)]*$/i;
/** A digit, a sign or inner capitals: not a word of a sentence. */
const NO_WORD = /\d|[a-z][A-Z]|[!#$%^&*+=@~?/]/;
const MIXED = /^(?=.*[A-Z])(?=.*[a-z])(?=.*\d).{8,}$/s;

interface Name {
  readonly text: string;
  readonly end: number;
}

export function valueInProse(text: string, name: Name, meaning: NameMeaning): ValueRange | undefined {
  if (meaning === "query") return undefined;
  const isPassword = PASSWORD.test(name.text);
  if (isPassword && /[({]/.test(text.charAt(name.end))) return insideBrackets(valueAt(text, name.end));
  const link = match(LINK, text, name.end);
  const gap = link ?? match(GAP, text, name.end);
  if (gap === undefined) return undefined;
  const at = name.end + gap[0].length;
  const value = quotedAt(text, at) ?? valueAt(text, at);
  if (value === undefined || value.form === "bracket") return undefined;
  const content = text.slice(value.start, value.end);
  if (meaning === "header" && value.form === "bare" && content.includes("=")) {
    const end = enclosingEnd(text, at, ['"', "'"]);
    return { ...value, end, next: end };
  }
  if (!isPassword) return MIXED.test(content) ? value : undefined;
  const isSecret = value.form === "quoted" || (link === undefined ? NO_WORD.test(content) : !NO_PASSWORD.test(content));
  return isSecret ? value : undefined;
}

function insideBrackets(value: ValueRange | undefined): ValueRange | undefined {
  if (value === undefined || value.end - value.start <= 2) return undefined;
  return { ...value, start: value.start + 1, end: value.end - 1 };
}
