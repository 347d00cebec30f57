// Aligned tables: three spaces between columns, `-` for empty cells. Pure.
import { oneLine } from "./printable.ts";
import { padVisible, visibleLength } from "./style.ts";
import { wrapBehind } from "./wrap.ts";

const GAP = "   ";

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** With a width, the last column is wrapped. */
export function renderTable({ header, rows }: Table, width?: number): string {
  const widths = columnWidths({ header, rows });
  return [header, ...rows]
    .flatMap((row) => wrapRow(row, widths, width))
    .map((line) => `${line}\n`)
    .join("");
}

function wrapRow(row: readonly string[], widths: readonly number[], width: number | undefined): readonly string[] {
  const before = widths.slice(0, -1);
  const first = before.map((one, i) => `${padVisible(cell(row[i]), one)}${GAP}`).join("");
  const rest = " ".repeat(before.reduce((sum, one) => sum + one + GAP.length, 0));
  return wrapBehind(cell(row[widths.length - 1]), { first, rest, width });
}

export function columnWidths({ header, rows }: Table): readonly number[] {
  return header.map((title, column) =>
    Math.max(visibleLength(title), ...rows.map((row) => visibleLength(cell(row[column])))),
  );
}

/** One more row of a table that is printed already: wider cells push the rest to the right. */
export function renderRow(row: readonly string[], widths: readonly number[]): string {
  const last = widths.length - 1;
  return widths.map((width, i) => (i === last ? cell(row[i]) : padVisible(cell(row[i]), width))).join(GAP);
}

const cell = (text: string | undefined): string => (text === undefined || text === "" ? "-" : oneLine(text));
