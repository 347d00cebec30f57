// Objects from a cache are shared and must not be modified: the type says so, and `copyOf` makes a copy that may be modified.
import type { DeepReadonly } from "@firebolt-operator/kube";

export type { DeepReadonly };

/** A mutable deep copy of a JSON value. */
export function copyOf<T>(value: DeepReadonly<T>): T {
  // The same shape without readonly.
  return copyJson(value) as T;
}

function copyJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyJson(inner)]));
}
