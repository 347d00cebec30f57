// Colours as functions on strings; terminal.ts decides whether they are used.
import { CONTROL_PARTS, CONTROLS, control, isControl } from "./printable.ts";

type Paint = (text: string) => string;

export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly red: Paint;
  readonly cyan: Paint;
  /** The n-th of a few colours, to distinguish sources. */
  readonly nth: (n: number, text: string) => string;
}

const sgr =
  (on: number, off: number): Paint =>
  (text) =>
    text === "" ? "" : `${control(`[${on}m`)}${text}${control(`[${off}m`)}`;
const none: Paint = (text) => text;

const WHEEL = [36, 35, 34, 32, 33, 96, 95, 94].map((code) => sgr(code, 39));

export const COLOURED: Style = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  green: sgr(32, 39),
  yellow: sgr(33, 39),
  red: sgr(31, 39),
  cyan: sgr(36, 39),
  nth: (n, text) => (WHEEL[n % WHEEL.length] ?? none)(text),
};

export const PLAIN: Style = {
  bold: none,
  dim: none,
  green: none,
  yellow: none,
  red: none,
  cyan: none,
  nth: (_, text) => text,
};

/** How many columns a string takes. */
export function visibleLength(text: string): number {
  return [...text.replace(CONTROLS, "")].length;
}

/** The first `width` columns of a string, with its colours. */
export function cutVisible(text: string, width: number): string {
  if (visibleLength(text) <= width) return text;
  let [cut, columns] = ["", 0];
  // Escape sequences take no columns and are all kept, so that every colour is reset.
  for (const part of text.split(CONTROL_PARTS)) {
    if (isControl(part)) cut += part;
    else
      for (const character of part) {
        if (columns < width - 1) cut += character;
        else if (columns === width - 1) cut += "…";
        columns += 1;
      }
  }
  return cut;
}

export function padVisible(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - visibleLength(text)));
}
