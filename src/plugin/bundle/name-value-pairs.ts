// Values whose name is a value itself: `{"name": "password", "value": "…"}` in either order, on one line or over
// several, and the same in YAML and in log fields. Pure.
import { REDACTED } from "./redacted.ts";
import { meaningOf } from "./secret-names.ts";
import { gapAt, match, type ValueRange, valueAt } from "./value-range.ts";

const LABEL =
  /(?<![\w.$-])(?:(name|key|field|header|variable|param|parameter|option|setting)|value|val|content)(?![\w$.-])/gi;
const SEPARATOR = /(?:\\*["'`])?[ \t]*[:=][ \t]*/y;
const HARMLESS = /^(?:-?\d{1,5}(?:\.\d+)?|true|false|null|)$/i;
/** What ends an object: a brace, or the dash of the next entry of a list. */
const BOUNDARY = /[{}]|(?:^|\n)[^\n]{0,40}?- /;
const FARTHEST = 400;

interface Label {
  readonly start: number;
  readonly isName: boolean;
  readonly value: ValueRange;
}

export function scrubPairs(text: string): string {
  const labels = labelsIn(text);
  const hidden = new Map<number, ValueRange>();
  for (const [index, label] of labels.entries()) {
    if (!label.isName || !announcesSecret(text.slice(label.value.start, label.value.end))) continue;
    const [before, after] = [labels[index - 1], labels[index + 1]];
    if (before !== undefined && belongs(text, before.value.next, label.start)) hide(before);
    if (after !== undefined && belongs(text, label.value.next, after.start)) hide(after);
  }
  function hide({ isName, value }: Label): void {
    if (!isName && !HARMLESS.test(text.slice(value.start, value.end))) hidden.set(value.start, value);
  }
  let [result, done] = ["", 0];
  for (const { start, end } of [...hidden.values()].sort((a, b) => a.start - b.start)) {
    if (start < done) continue;
    result += text.slice(done, start) + REDACTED;
    done = end;
  }
  return result + text.slice(done);
}

function labelsIn(text: string): readonly Label[] {
  const labels: Label[] = [];
  LABEL.lastIndex = 0;
  for (let found = LABEL.exec(text); found !== null; found = LABEL.exec(text)) {
    const end = found.index + found[0].length;
    const separator = match(SEPARATOR, text, end);
    if (separator === undefined) continue;
    const at = end + separator[0].length;
    const value = valueAt(text, at + gapAt(text, at));
    if (value === undefined) continue;
    labels.push({ start: found.index, isName: found[1] !== undefined, value });
    LABEL.lastIndex = value.next;
  }
  return labels;
}

const announcesSecret = (name: string): boolean => !["harmless", "query"].includes(meaningOf(name));

const belongs = (text: string, from: number, to: number): boolean =>
  to - from <= FARTHEST && !BOUNDARY.test(text.slice(from, to));
