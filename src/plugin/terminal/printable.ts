// Output that is safe for a terminal. Names, messages and errors from the cluster may hold escape sequences: they are
// made visible, as kubectl does. The plugin's own sequences begin with a random mark that nothing in the cluster can
// know, and become escape sequences here.
import { randomBytes } from "node:crypto";

/** A noncharacter and a random number. */
const MARK = `\ufdd0${randomBytes(8).toString("hex")}`;
const ESCAPE = "\u001b";

/** An escape sequence of the plugin, without its escape character. */
export const control = (sequence: string): string => `${MARK}${sequence}`;

/** Finds those sequences, which take no columns. */
export const CONTROLS = new RegExp(String.raw`${MARK}\[[0-9;?]*[A-Za-z]`, "g");
export const CONTROL_PARTS = new RegExp(String.raw`(${MARK}\[[0-9;?]*[A-Za-z])`);
export const isControl = (part: string): boolean => part.startsWith(MARK);

/** Everything but line feeds and tabs. */
const UNPRINTABLE = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu;

/** For output that people read. */
export function printable(text: string): string {
  return withControls(text.replaceAll("\r\n", "\n").replace(UNPRINTABLE, visible));
}

/** For output that is passed through: data formats, logs and query results. */
export function withControls(text: string): string {
  return text.replaceAll(MARK, ESCAPE);
}

/** One line of a table or a tree: line feeds in a message become spaces. */
export function oneLine(text: string): string {
  return text.replace(/[\r\n\v\f\u0085\u2028\u2029]+/g, " ");
}

/** `^[` for an escape character, `\u202e` for characters without such a name. */
function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  return code === 0x7f ? "^?" : `\\u${code.toString(16).padStart(4, "0")}`;
}
