// What a container or the kubelet wrote, without the parts that differ each time the same thing happens, and short enough for a
// condition.

const LIMIT = 300;

/** Times, durations, addresses, process and container ids. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?/g, ""],
  [/\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/g, ""],
  [/\b0x[0-9a-f]+\b/gi, "0x"],
  [/\b[0-9a-f]{32,}\b/gi, ""],
  [/\b(pid|goroutine)([ =:]+)\d+/gi, "$1"],
  [/\b\d+(?:\.\d+)?(?:ns|us|ms|s|m\d+s)\b/g, ""],
];

/** The last line says what ended it; what came before is in the logs. */
export function stableText(text: string): string {
  const last = text.trim().split("\n").at(-1) ?? "";
  const stable = VOLATILE.reduce((rest, [pattern, by]) => rest.replace(pattern, by), last)
    .replace(/\[\s*\]|\(\s*\)/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return stable.length > LIMIT ? `${stable.slice(0, LIMIT - 3)}...` : stable;
}
