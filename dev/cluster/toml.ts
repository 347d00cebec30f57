// Writes plain data as TOML, the language of containerd's settings. It covers what such settings need: tables, strings,
// numbers, booleans and lists of strings.

export type TomlValue = string | number | boolean | readonly string[] | TomlTable;
export interface TomlTable {
  readonly [key: string]: TomlValue;
}

export function renderToml(table: TomlTable): string {
  return `${renderTable(table, []).join("\n")}\n`;
}

function renderTable(table: TomlTable, path: readonly string[]): readonly string[] {
  const values: string[] = [];
  const tables: string[] = [];
  for (const [key, value] of Object.entries(table)) {
    if (isTable(value)) {
      const inner = [...path, key];
      tables.push(`[${inner.map(quote).join(".")}]`, ...renderTable(value, inner));
    } else values.push(`${quote(key)} = ${renderValue(value)}`);
  }
  // What follows a table's heading belongs to it, so a table's own values come first.
  return [...values, ...tables];
}

function renderValue(value: Exclude<TomlValue, TomlTable>): string {
  if (typeof value === "string") return quote(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return `[${value.map(quote).join(", ")}]`;
}

const isTable = (value: TomlValue): value is TomlTable => typeof value === "object" && !Array.isArray(value);

/** TOML's basic strings escape as JSON does. */
const quote = (text: string): string => JSON.stringify(text);
