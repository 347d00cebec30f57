// Wraps lines between words, and never inside a command, which people copy. Pure.
import { oneLine } from "./printable.ts";
import { visibleLength } from "./style.ts";

/** A command line up to the end of its sentence. */
const COMMAND = /kubectl [^;)]*[^;)\s,.]/g;
/** Replaces the spaces of a command while lines are split into words. */
const GLUE = "\u0000";

/** The lines of a string, none longer than `width` unless a word is. Without a width there is one. */
export function wrapLines(text: string, width: number | undefined): readonly string[] {
  if (width === undefined || visibleLength(text) <= width) return [text];
  const words = text.replace(COMMAND, (command) => command.replaceAll(" ", GLUE)).split(" ");
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of words) {
    const longer: string = line === undefined ? word : `${line} ${word}`;
    if (line !== undefined && visibleLength(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line ?? ""].map((one) => one.replaceAll(GLUE, " "));
}

/**
 * A string behind `first`, its other lines behind `rest`. In a narrow terminal it starts below `first`, with a small
 * indent.
 */
export function wrapBehind(
  lines: string,
  { first, rest, width }: { readonly first: string; readonly rest: string; readonly width: number | undefined },
): readonly string[] {
  const text = oneLine(lines);
  // An empty string never takes a line of its own.
  if (text === "" || width === undefined || visibleLength(first) + visibleLength(text) <= width)
    return [`${first}${text}`];
  const room = width - visibleLength(rest);
  if (room >= NARROWEST) return wrapLines(text, room).map((line, index) => `${index === 0 ? first : rest}${line}`);
  const indent = `${rest.trimEnd()}${INDENT}`;
  const below = wrapLines(text, Math.max(NARROWEST, width - visibleLength(indent)));
  return [first.trimEnd(), ...below.map((line) => `${indent}${line}`)];
}

const NARROWEST = 20;
const INDENT = "      ";
