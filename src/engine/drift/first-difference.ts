// The first field that differs between two normal forms, as a path and two values; for logs, events and conditions.
import { isObject } from "../../podtemplate/shapes/shape.ts";

export interface FieldDifference {
  /** JSON names, list items by index, named entries by name. */
  readonly path: string;
  /** Short form of the value; `unset` when it is absent. */
  readonly live: string;
  readonly wanted: string;
}

const MAX_TEXT = 80;

export function firstDifference(
  path: string,
  live: unknown,
  wanted: unknown,
  named = false,
): FieldDifference | undefined {
  if (live === wanted) return undefined;
  if (Array.isArray(live) && Array.isArray(wanted)) return differenceInLists(path, live, wanted);
  if (!isObject(live) || !isObject(wanted)) return difference(path, live, wanted);
  // The wanted order first: it is the order in which people wrote the fields.
  for (const key of new Set([...Object.keys(wanted), ...Object.keys(live)])) {
    const at = named ? `${path}[${key}]` : `${path}.${key}`;
    const found = firstDifference(at, own(live, key), own(wanted, key));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Never what every object inherits: a label may well be called `constructor`. */
function own(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Every field that differs, in the same order: for `kubectl firebolt plan`. */
export function allDifferences(
  path: string,
  live: unknown,
  wanted: unknown,
  named = false,
): readonly FieldDifference[] {
  const isBranch = (value: unknown): boolean => isObject(value) || Array.isArray(value);
  if (!isBranch(live) || !isBranch(wanted) || Array.isArray(live) !== Array.isArray(wanted)) {
    const found = firstDifference(path, live, wanted, named);
    return found === undefined ? [] : [found];
  }
  const [is, should] = [Object.entries(live ?? {}), Object.entries(wanted ?? {})].map((entries) => new Map(entries));
  const keys = new Set([...(should?.keys() ?? []), ...(is?.keys() ?? [])]);
  const at = (key: string): string => (named || Array.isArray(wanted) ? `${path}[${key}]` : `${path}.${key}`);
  return [...keys].flatMap((key) => allDifferences(at(key), is?.get(key), should?.get(key)));
}

function differenceInLists(
  path: string,
  live: readonly unknown[],
  wanted: readonly unknown[],
): FieldDifference | undefined {
  for (let index = 0; index < Math.max(live.length, wanted.length); index++) {
    const found = firstDifference(`${path}[${index}]`, live[index], wanted[index]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function difference(path: string, live: unknown, wanted: unknown): FieldDifference {
  return { path, live: shortText(live), wanted: shortText(wanted) };
}

function shortText(value: unknown): string {
  if (value === undefined) return "unset";
  const named = isObject(value) && typeof value["name"] === "string" ? `{name: ${value["name"]}, …}` : undefined;
  const text = named ?? (typeof value === "string" ? value : JSON.stringify(value));
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
}
