// Text of others (containers, nodes, webhooks, API errors) as conditions and events may hold it: one line of visible characters. A
// terminal obeys escape sequences, a bidirectional override reverses what people read, and half a surrogate pair is stored as another
// character than the one that was sent, which makes every pass find a difference. Pure.

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for.
const ESCAPE_SEQUENCES = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;
const LINE_BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/** Controls, bidirectional controls, and characters that nobody sees. */
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}\u200b\u2060\ufeff\u{e0000}-\u{e007f}]/gu;
const REPLACEMENT = "\ufffd";
const ELLIPSIS = "...";

/** Unchanged when applied again. */
export function plainText(text: string, limit = Number.POSITIVE_INFINITY): string {
  const plain = text
    .toWellFormed()
    .replace(ESCAPE_SEQUENCES, "")
    .replace(LINE_BREAKS, " ")
    .replace(INVISIBLE, REPLACEMENT);
  return cutText(plain, limit);
}

/** At most so many UTF-16 code units, and no half of a character. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = limit - ELLIPSIS.length;
  return `${text.slice(0, isHighSurrogate(text, end - 1) ? end - 1 : end)}${ELLIPSIS}`;
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}
