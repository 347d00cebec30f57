// Aligned tables: three spaces between columns, `-` for what is empty. Pure text.
import { padVisible, visibleLength } from "./style.ts";

const GAP = "   ";

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function renderTable({ header, rows }: Table): string {
  const widths = columnWidths({ header, rows });
  return [header, ...rows].map((row) => `${renderRow(row, widths)}\n`).join("");
}

export function columnWidths({ header, rows }: Table): readonly number[] {
  return header.map((title, column) =>
    Math.max(visibleLength(title), ...rows.map((row) => visibleLength(cell(row[column])))),
  );
}

/** One row of a table that has been begun: wider cells push the rest to the right. */
export function renderRow(row: readonly string[], widths: readonly number[]): string {
  const last = widths.length - 1;
  return widths.map((width, i) => (i === last ? cell(row[i]) : padVisible(cell(row[i]), width))).join(GAP);
}

const cell = (text: string | undefined): string => (text === undefined || text === "" ? "-" : text);
