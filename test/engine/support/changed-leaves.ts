// Every place in a JSON value, and copies of an object in which exactly one of them is different.

export interface Leaf {
  /** JSON names, list items by index; map keys that are no names in brackets. */
  readonly path: string;
  readonly keys: readonly (string | number)[];
  readonly value: unknown;
}

/** Maps whose keys are the user's: a path writes them as `[key]`. */
const USER_MAPS = new Set(["labels", "annotations", "nodeSelector"]);

/** Texts, numbers, flags and empty objects below `root`, depth first. */
export function leavesOf(root: unknown, path: string, keys: readonly (string | number)[] = [path]): Leaf[] {
  if (Array.isArray(root)) {
    return root.flatMap((item, index) => leavesOf(item, `${path}[${index}]`, [...keys, index]));
  }
  if (typeof root !== "object" || root === null || Object.keys(root).length === 0) return [{ path, keys, value: root }];
  const inUserMap = USER_MAPS.has(String(keys.at(-1)));
  return Object.entries(root).flatMap(([key, value]) =>
    leavesOf(value, inUserMap ? `${path}[${key}]` : `${path}.${key}`, [...keys, key]),
  );
}

/** A copy of `object` whose leaf has another value of the same type (an empty object gets a field). */
export function withChangedLeaf<T>(object: T, { keys, value }: Leaf): T {
  return changed(object, keys, otherThan(value)) as T;
}

function otherThan(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  return typeof value === "string" ? `${value}x` : { other: "x" };
}

function changed(node: unknown, [key, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(node)) return node.map((item, index) => (index === key ? changed(item, rest, value) : item));
  const fields = typeof node === "object" && node !== null ? node : {};
  return Object.fromEntries(
    Object.entries(fields).map(([name, inner]) => [name, name === key ? changed(inner, rest, value) : inner]),
  );
}
