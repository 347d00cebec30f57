// Builds objects from optional parts: the API server distinguishes absent from null, so undefined fields are left out.

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The same fields in the same order, without those that are undefined. */
export function present<T extends object>(fields: T): Present<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  // The result has exactly the fields that the type declares.
  return Object.fromEntries(entries) as Present<T>;
}

/** The list, or undefined when it is empty. */
export function nonEmpty<T>(list: T[]): T[] | undefined {
  return list.length > 0 ? list : undefined;
}

/** The map, or undefined when it is empty. */
export function nonEmptyMap<T>(map: Record<string, T>): Record<string, T> | undefined {
  return Object.keys(map).length > 0 ? map : undefined;
}
