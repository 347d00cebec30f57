// The merge patch that `kubectl apply` sends for a custom resource: fields that the file changes, and the removal of
// fields that only the last applied file had. Pure.
import { isObject, type JsonObject } from "../../podtemplate/shapes/shape.ts";

export interface ThreeWay {
  /** The last applied manifest; undefined when unknown. */
  readonly before: unknown;
  readonly wanted: JsonObject;
  readonly live: JsonObject;
}

/** Empty when there is nothing to change. */
export function threeWayPatch({ before, wanted, live }: ThreeWay): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(wanted)) {
    const is = live[key];
    if (isObject(value) && isObject(is)) {
      const inner = threeWayPatch({ before: isObject(before) ? before[key] : undefined, wanted: value, live: is });
      if (Object.keys(inner).length > 0) patch[key] = inner;
    } else if (!sameJson(value, is)) patch[key] = value;
  }
  for (const key of isObject(before) ? Object.keys(before) : []) if (!(key in wanted) && key in live) patch[key] = null;
  return patch;
}

/** Equal as JSON, whatever the order of keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((entry, i) => sameJson(entry, b[i]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => sameJson(a[key], b[key]));
}
