// The merge patch between two objects: changed fields, and null for removed ones, at every depth. For objects that a
// single writer owns entirely, such as a status.
import { isDeepStrictEqual } from "node:util";

/** The merge patch that turns `stored` into `wanted`; empty when they are equal. */
export function changedFields(stored: object | undefined, wanted: object): Record<string, unknown> {
  const before = new Map<string, unknown>(Object.entries(stored ?? {}));
  const after = new Map<string, unknown>(Object.entries(wanted));
  const removed = [...before.keys()].filter((key) => !after.has(key)).map((key) => [key, null] as const);
  const changed = [...after].flatMap(([key, value]) => {
    const was = before.get(key);
    if (isDeepStrictEqual(was, value)) return [];
    // A merge patch merges objects: without recursion a removed field would stay.
    return [[key, isPlainObject(was) && isPlainObject(value) ? changedFields(was, value) : value] as const];
  });
  return Object.fromEntries([...changed, ...removed]);
}

function isPlainObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
