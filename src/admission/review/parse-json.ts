// Parses JSON from any client that reaches the port, unless it is nested so deeply that walking it could exhaust the
// stack. Real manifests are about twenty levels deep.

/** The string is not JSON, or is nested too deeply. */
export class InvalidJsonError extends Error {
  override readonly name = "InvalidJsonError";
}

export const MAX_DEPTH = 500;

export function parseJson(text: string): unknown {
  if (isDeeperThan(text, MAX_DEPTH)) throw new InvalidJsonError(`nested more than ${MAX_DEPTH} levels deep`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's own message quotes the input, which must not be repeated in a response.
    throw new InvalidJsonError("not valid JSON", { cause });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSE: ReadonlySet<number> = new Set([0x5d, 0x7d]);

function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (OPEN.has(code) && ++depth > limit) return true;
    else if (CLOSE.has(code)) depth--;
  }
  return false;
}
