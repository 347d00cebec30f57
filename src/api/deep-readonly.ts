// Objects from a cache are shared and read-only. Code that builds a new object from one takes a copy.

export type DeepReadonly<T> = T extends (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

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
