// The merge patch that turns one object into another, one level deep: what differs is sent whole, what is gone is null. For objects
// such as a status that one writer owns as a whole.
import { isDeepStrictEqual } from "node:util";

export function changedFields(stored: object | undefined, wanted: object): Record<string, unknown> {
  const before = new Map<string, unknown>(Object.entries(stored ?? {}));
  const after = new Map<string, unknown>(Object.entries(wanted));
  const removed = [...before.keys()].filter((key) => !after.has(key)).map((key) => [key, null] as const);
  const changed = [...after].filter(([key, value]) => !isDeepStrictEqual(before.get(key), value));
  return Object.fromEntries([...changed, ...removed]);
}
