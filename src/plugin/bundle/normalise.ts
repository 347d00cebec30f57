// Normalises a string for the rules: no printable character hidden behind an escape, and no line so long that finding
// the ends of its values would take minutes. Pure.

/** Longer lines are not useful, and the work on one line may grow with the square of its length. */
const LONGEST_LINE = 8192;

export function plainText(text: string): string {
  return decodeEscapes(shortenLines(text));
}

function shortenLines(text: string): string {
  if (text.length <= LONGEST_LINE) return text;
  return text
    .split("\n")
    .map((line) =>
      line.length <= LONGEST_LINE
        ? line
        : // A credential that is cut in half no longer looks like one: the word at the cut is removed too.
          `${line.slice(0, LONGEST_LINE - 100).replace(/[^\s"'&;,]{0,2000}$/, "")} [line cut here: ${line.length} characters]`,
    )
    .join("\n");
}

/**
 * `\u0022` is a quote one level of escaping deeper, and `\u003d` an equals sign at any level. Control characters stay
 * as they are.
 */
function decodeEscapes(text: string): string {
  return text.replaceAll(/(?<!\\)(\\{1,64})u00([2-7][0-9a-f])/gi, (whole, slashes: string, code: string) => {
    const char = String.fromCharCode(Number.parseInt(code, 16));
    if (char === "\u007f" || char === "\\") return whole;
    return char === '"' ? `${"\\".repeat(2 * slashes.length - 1)}"` : char;
  });
}
