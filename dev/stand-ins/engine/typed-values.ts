// Values with a type of their own, which the embedded database lacks: `'2024-02-29'::date`. A cast becomes a call of a function that marks
// its value with the type; the mark is read when the row leaves the database. Written as clients of the engine expect each type.
import { StatementError } from "./sql-text.ts";

/** Begins a marked value; no statement can contain it. */
const MARK = "\u0001";

export interface TypedValue {
  readonly type: string;
  readonly value: unknown;
}

type Encode = (text: string) => unknown;

const asText: Encode = (text) => text;
const matching =
  (pattern: RegExp): Encode =>
  (text) => {
    if (!pattern.test(text)) throw new Error("malformed");
    return text;
  };
const asNumber: Encode = (text) => {
  const number = Number(text);
  if (text.trim() === "" || Number.isNaN(number)) throw new Error("malformed");
  return number;
};
const asWhole: Encode = (text) => Number(BigInt(text));
/** JSON has no such numbers. */
const asDouble: Encode = (text) => (/^-?(inf|nan)$/.test(text) ? text : asNumber(text));
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, "1": true, false: false, "0": false };
const asBoolean: Encode = (text) => {
  const value = BOOLEANS[text.toLowerCase()];
  if (value === undefined) throw new Error("malformed");
  return value;
};

const SCALARS: Readonly<Record<string, { readonly shown: string; readonly encode: Encode }>> = {
  int: { shown: "int", encode: asWhole },
  integer: { shown: "int", encode: asWhole },
  // Beyond what JSON readers keep exactly, so always a string.
  bigint: { shown: "long", encode: (text) => String(BigInt(text)) },
  long: { shown: "long", encode: (text) => String(BigInt(text)) },
  real: { shown: "float", encode: asDouble },
  "double precision": { shown: "double", encode: asDouble },
  double: { shown: "double", encode: asDouble },
  text: { shown: "text", encode: asText },
  boolean: { shown: "boolean", encode: asBoolean },
  date: { shown: "date", encode: matching(/^\d{4}-\d{2}-\d{2}$/) },
  timestamp: { shown: "timestamp", encode: matching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?$/) },
  timestampntz: { shown: "timestampntz", encode: matching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?$/) },
  timestamptz: {
    shown: "timestamptz",
    encode: matching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?[+-]\d{2}(:\d{2})?$/),
  },
  bytea: { shown: "bytea", encode: matching(/^\\x([0-9a-f]{2})*$/) },
  geography: { shown: "geography", encode: matching(/^[0-9A-F]+$/) },
};

/** `numeric(38, 9)`; the value stays text, digit for digit. */
const NUMERIC = /^numeric\((\d+),\s*(\d+)\)$/;
/** Their values are written as JSON. */
const COMPOSITE = /^(array|struct)\(.+\)$/;

/** The value of a cast, marked with its type; null becomes a null of that type. */
export function markValue(type: unknown, value: unknown): string {
  const [name, text] = [String(type).trim(), value === null ? null : String(value)];
  const { shown, encode } = describeType(name);
  try {
    const typed = text === null ? { type: `${shown} null`, value: null } : { type: shown, value: encode(text) };
    return `${MARK}${JSON.stringify(typed)}`;
  } catch {
    throw new StatementError(`invalid input for type ${name}: ${JSON.stringify(text)}`);
  }
}

function describeType(name: string): { readonly shown: string; readonly encode: Encode } {
  const scalar = SCALARS[name.toLowerCase()];
  if (scalar !== undefined) return scalar;
  const numeric = NUMERIC.exec(name);
  if (numeric !== null) return { shown: `numeric(${numeric[1]}, ${numeric[2]})`, encode: matching(/^-?\d+(\.\d+)?$/) };
  if (COMPOSITE.test(name)) return { shown: name, encode: (text) => JSON.parse(text) };
  throw new StatementError(`unknown type ${name}`);
}

/** The typed value behind a mark; undefined for a value of the database's own. */
export function readMark(value: unknown): TypedValue | undefined {
  return typeof value === "string" && value.startsWith(MARK) ? JSON.parse(value.slice(MARK.length)) : undefined;
}
