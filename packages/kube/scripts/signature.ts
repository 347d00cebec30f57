// Extracts the signature of a function from its source: from its name to the brace that opens its body.

const OPEN = "([{<";
const CLOSE = ")]}>";

/** `start` is where the declaration of `name` begins. */
export function signatureOf(source: string, start: number, name: string): string {
  const begin = source.indexOf(name, start);
  let depth = 0;
  let afterParameters = false;
  let sawType = false;
  for (let at = begin; at < source.length; at++) {
    const character = source.charAt(at);
    if (source.startsWith("=>", at)) {
      at++;
      sawType = false;
      continue;
    }
    if (OPEN.includes(character)) {
      // A brace after a complete return type, and not where a type must follow, opens the body.
      if (character === "{" && depth === 0 && afterParameters && sawType) return oneLine(source.slice(begin, at));
      depth++;
    } else if (CLOSE.includes(character)) {
      depth--;
      if (depth === 0 && character === ")") afterParameters = true;
      if (depth === 0 && afterParameters && character !== ")") sawType = true;
    } else if (depth === 0 && afterParameters && /[\w"'`]/.test(character)) {
      sawType = true;
    } else if (depth === 0 && afterParameters && /[:|&]/.test(character)) {
      sawType = false;
    }
  }
  throw new Error(`${name} has no body`);
}

/** Without line breaks, and without the comma before a closing parenthesis. */
export const oneLine = (text: string): string =>
  text.replaceAll(/\s+/g, " ").replaceAll(/\( /g, "(").replaceAll(/,? \)/g, ")").trim();
