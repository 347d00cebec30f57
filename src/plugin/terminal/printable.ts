// What reaches the terminal. Names, messages and errors come from the cluster, and a terminal obeys the escape sequences in them: they
// are shown instead, as kubectl does. The plugin's own sequences begin with a mark that nobody in the cluster can know, and become
// escape sequences here, at the very edge. Pure but for the mark, which each process draws.
import { randomBytes } from "node:crypto";

/** A character that text does not have, and a number that is not known before. */
const MARK = `\ufdd0${randomBytes(8).toString("hex")}`;
const ESCAPE = "\u001b";

/** An escape sequence of the plugin, without its escape character. */
export const control = (sequence: string): string => `${MARK}${sequence}`;

/** Finds those sequences. They take no room. */
export const CONTROLS = new RegExp(String.raw`${MARK}\[[0-9;?]*[A-Za-z]`, "g");
export const CONTROL_PARTS = new RegExp(String.raw`(${MARK}\[[0-9;?]*[A-Za-z])`);
export const isControl = (part: string): boolean => part.startsWith(MARK);

/** Everything but line feeds and tabs, which take their place in tables and blocks of text. */
const UNPRINTABLE = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu;

/** For everything that people read. */
export function printable(text: string): string {
  return withControls(text.replaceAll("\r\n", "\n").replace(UNPRINTABLE, visible));
}

/** For what is passed on as it is: data in a format of its own, logs and results of queries. */
export function withControls(text: string): string {
  return text.replaceAll(MARK, ESCAPE);
}

/** One line of a table or a tree: a line feed in a message must not begin another one. */
export function oneLine(text: string): string {
  return text.replace(/[\r\n\v\f\u0085\u2028\u2029]+/g, " ");
}

/** `^[` for an escape character, `\u202e` for what has no such name. */
function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  return code === 0x7f ? "^?" : `\\u${code.toString(16).padStart(4, "0")}`;
}
