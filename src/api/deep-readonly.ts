// Objects out of a cache are shared and must not change. The type says so; the copy is for whoever builds something new from one.

export type DeepReadonly<T> = T extends (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** A deep copy of a JSON value, free to be changed. */
export function copyOf<T>(value: DeepReadonly<T>): T {
  // The copy has the same shape; only the promise not to change it is gone.
  return copyJson(value) as T;
}

function copyJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyJson(inner)]));
}
