// The engine's configuration file as a string: JSON, which every YAML reader takes, in the form that the pickiest of
// them agree on.
import { isObject, type JsonObject } from "../../podtemplate/shapes/shape.ts";

/** Deterministic: keys in the order of the document, two spaces, a newline at the end. */
export function configText(document: JsonObject): string {
  return `${text(document, "")}\n`;
}

function text(value: unknown, indent: string): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => `${inner}${text(item, inner)}`);
    return items.length === 0 ? "[]" : `[\n${items.join(",\n")}\n${indent}]`;
  }
  if (isObject(value)) {
    const fields = Object.entries(value).map(([key, field]) => `${inner}${quoted(key)}: ${text(field, inner)}`);
    return fields.length === 0 ? "{}" : `{\n${fields.join(",\n")}\n${indent}}`;
  }
  if (typeof value === "string") return quoted(value);
  return typeof value === "number" ? decimal(value) : (JSON.stringify(value) ?? "null");
}

/** Characters that JSON allows inside a string and YAML does not, or takes for the end of a line. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

function quoted(value: string): string {
  return JSON.stringify(value).replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Older YAML reads `1e-7` as a string, because a number with an exponent needs a point there. */
function decimal(value: number): string {
  return JSON.stringify(value).replace(/^(-?\d+)e/, "$1.0e");
}
