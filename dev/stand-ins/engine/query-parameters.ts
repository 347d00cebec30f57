// The setting `query_parameters`: values for `$1`, `$2` in a statement, as clients send them: a JSON list of names and values.
import type { SqlParameters } from "./sql-engine.ts";

/** No setting means no parameters; undefined where it cannot be read. */
export function readParameters(setting: string | null): SqlParameters | undefined {
  if (setting === null) return {};
  const list = parse(setting);
  if (!Array.isArray(list) || !list.every(isParameter)) return undefined;
  return Object.fromEntries(list.map(({ name, value }) => [name, typeof value === "boolean" ? Number(value) : value]));
}

interface Parameter {
  readonly name: string;
  readonly value: string | number | boolean | null;
}

function isParameter(entry: unknown): entry is Parameter {
  if (typeof entry !== "object" || entry === null || !("name" in entry) || !("value" in entry)) return false;
  const { name, value } = entry;
  return typeof name === "string" && (value === null || ["string", "number", "boolean"].includes(typeof value));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
