// How lists of a class and of an engine become one: class first, then engine. In a keyed list a key may appear once, or
// the API server rejects the whole object; there the engine's entry wins and takes the later position.

/** Concatenation: entries have no key, repeats are harmless. */
export function concat<T>(ofClass: T[] | undefined, ofEngine: T[] | undefined): T[] {
  return [...(ofClass ?? []), ...(ofEngine ?? [])];
}

/** Concatenation of keyed lists: an entry of the class gives way to the engine's entry of the same key. */
export function concatKeyed<T>(ofClass: T[] | undefined, ofEngine: T[] | undefined, key: (entry: T) => string): T[] {
  if (ofClass === undefined || ofEngine === undefined) return concat(ofClass, ofEngine);
  const taken = new Set(ofEngine.map(key));
  return [...ofClass.filter((entry) => !taken.has(key(entry))), ...ofEngine];
}

export const byName = ({ name }: { name?: string }): string => name ?? "";
