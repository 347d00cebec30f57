// JSON from whoever can reach the port: parsed only when it is not nested so deeply that walking through it could exhaust the
// stack. Real manifests are some twenty levels deep.

/** The text is no JSON, or nested too deeply. */
export class JsonTextError extends Error {
  override readonly name = "JsonTextError";
}

export const MAX_DEPTH = 500;

export function parseJson(text: string): unknown {
  if (isDeeperThan(text, MAX_DEPTH)) throw new JsonTextError(`nested more than ${MAX_DEPTH} levels deep`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's own message quotes the text, which is not ours to repeat.
    throw new JsonTextError("not valid JSON", { cause });
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
