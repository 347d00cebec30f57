// Makes foreign strings (of containers, nodes, webhooks, API errors) safe for conditions and events: one line of
// visible characters. Terminals interpret escape sequences, a bidirectional override reverses what people read, and
// half a surrogate pair is stored as another character than was sent, so every pass would find a difference. Pure.

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for.
const ESCAPE_SEQUENCES = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;
const LINE_BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/** Control characters, bidirectional controls and invisible characters. */
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}\u200b\u2060\ufeff\u{e0000}-\u{e007f}]/gu;
const REPLACEMENT = "\ufffd";
const ELLIPSIS = "...";

/** Idempotent. */
export function plainText(text: string, limit = Number.POSITIVE_INFINITY): string {
  const plain = text
    .toWellFormed()
    .replace(ESCAPE_SEQUENCES, "")
    .replace(LINE_BREAKS, " ")
    .replace(INVISIBLE, REPLACEMENT);
  return cutText(plain, limit);
}

/** At most `limit` UTF-16 code units, without splitting a character. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = limit - ELLIPSIS.length;
  return `${text.slice(0, isHighSurrogate(text, end - 1) ? end - 1 : end)}${ELLIPSIS}`;
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}
