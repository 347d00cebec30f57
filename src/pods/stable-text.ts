// What others wrote (a container, a kubelet, the API server), without the parts that differ each time the same thing happens, as plain
// text without credentials, and short enough for a condition: every change of it is a status write, and most are an event. It cannot pass for
// a next step of the operator's own, which people run. Pure.
import { MARK } from "../api/next-step.ts";
import { cutText, plainText } from "../api/values/plain-text.ts";
import { COUNTED, type Replacement, VOLATILE } from "./volatile-parts.ts";
import { withoutCredentials } from "./without-credentials.ts";

const LIMIT = 300;
/** More than a condition holds, and short enough for every pattern. */
const READ_LIMIT = 4_096;

/** A message written for people, whose numbers are significant: an API error, a reason of the scheduler. */
export function stableText(text: string, limit = LIMIT): string {
  return without(VOLATILE, plainText(text.trim().slice(0, READ_LIMIT)), limit);
}

/** The last line of a container usually names the cause of its exit. Its numbers may be counters. */
export function lastWords(text: string): string {
  const lines = text.split(/[\n\r\u2028\u2029\u0085]/).map((line) => plainText(line.slice(0, READ_LIMIT)).trim());
  return without([...VOLATILE, ...COUNTED], lines.findLast((line) => line !== "") ?? "", LIMIT);
}

function without(parts: readonly Replacement[], text: string, limit: number): string {
  const stable = parts.reduce((rest, part) => replaced(rest, part), withoutCredentials(text));
  return cutText(
    stable
      .replace(/\[ *\]|\( *\)/g, "")
      .replace(/\s+/g, " ")
      .replaceAll(MARK, ", next: ")
      .trim(),
    limit,
  );
}

/** A function and a string are two overloads. */
function replaced(text: string, [pattern, by]: Replacement): string {
  return typeof by === "string" ? text.replace(pattern, by) : text.replace(pattern, by);
}
