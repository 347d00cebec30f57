// Whether a live object holds everything that a rendered one contains. What others added does not count where
// server-side apply would keep it, and defaults of the API server do not count anywhere, so that a controller never
// repeats the same write forever. An addition that apply would remove does count: it is repaired.
import { isFields } from "../core/fields.ts";
import { IMMUTABLE, isReplacedWhole, KEYED_LISTS } from "./merged-parts.ts";

/** Two sides of a comparison. */
export interface Comparison {
  readonly live: unknown;
  /** What `live` should be, in the same normal form as `live`. */
  readonly wanted: unknown;
  /** The rendered object before any normalisation: only its fields are compared. Default: `wanted`. */
  readonly rendered?: unknown;
  /** The kind of the object: where lists are merged depends on it. Default: the field `kind` of `rendered`. */
  readonly kind?: string;
}

/** How lists, objects of one writer and empty values are compared. */
export interface CoverRules {
  /**
   * Which additions by others are ignored. "merged" (default): those that server-side apply keeps, in objects and in
   * keyed lists; all other lists, selectors and references must be equal. "all": every one; lists are compared as sets.
   */
  readonly ignoredAdditions?: "merged" | "all";
  /** Lists whose entries are identified by fields, by kind and path. Default: {@link KEYED_LISTS}. */
  readonly keyedLists?: ReadonlyMap<string, readonly string[]>;
  /** Treats false, 0, "", and empty lists and objects as absent: the API server omits many of them. Default false. */
  readonly emptyIsAbsent?: boolean;
}

/** Whether `live` holds everything that was rendered. */
export function covers(comparison: Comparison, rules: CoverRules = {}): boolean {
  const { live, wanted, rendered = wanted } = comparison;
  const { kind = kindOf(rendered) } = comparison;
  const lists = rules.ignoredAdditions === "all" ? "sets" : "merged";
  return coversValue({ live, wanted, rendered }, kind, { ...rules, lists });
}

interface Sides {
  readonly live: unknown;
  readonly wanted: unknown;
  readonly rendered: unknown;
}

/** "Positions": entry by entry, additions inside of entries are ignored. For what is immutable. */
type Mode = CoverRules & { readonly lists: "merged" | "sets" | "positions" };

function coversValue({ live, wanted, rendered }: Sides, path: string, mode: Mode): boolean {
  if (rendered === undefined || rendered === null) return true;
  if (mode.emptyIsAbsent === true && isEmpty(rendered)) return isEmpty(live) || typeof rendered === "object";
  const inner: Mode = mode.lists === "merged" && IMMUTABLE.has(path) ? { ...mode, lists: "positions" } : mode;
  if (Array.isArray(rendered)) return coversList({ live, wanted, rendered }, path, inner);
  if (!isFields(rendered)) return live === wanted;
  if (inner.lists === "merged" && isReplacedWhole(path)) return isEqual(live, wanted, inner);
  // A normal form omits what has no effect; what it keeps (`emptyDir: {}`) must exist.
  if (isFields(wanted) && !isFields(live)) return false;
  const [is, should] = [isFields(live) ? live : {}, isFields(wanted) ? wanted : {}];
  return Object.keys(rendered).every((key) =>
    coversValue({ live: is[key], wanted: should[key], rendered: rendered[key] }, `${path}.${key}`, inner),
  );
}

function coversList(
  { live, wanted, rendered }: Sides & { readonly rendered: readonly unknown[] },
  path: string,
  mode: Mode,
): boolean {
  const [is, should] = [Array.isArray(live) ? live : [], Array.isArray(wanted) ? wanted : []];
  const same = (one: unknown, index: number): boolean =>
    coversValue({ live: one, wanted: should[index], rendered: rendered[index] }, path, mode);
  if (mode.lists === "sets") return rendered.every((_, index) => is.some((one) => same(one, index)));
  if (mode.lists === "positions")
    return is.length === should.length && rendered.every((_, index) => same(is[index], index));
  const keys = (mode.keyedLists ?? KEYED_LISTS).get(path);
  if (keys === undefined) return isEqual(is, should, mode);
  return rendered.every((_, index) => {
    const found = is.find((one) => keys.every((key) => valueAt(one, key) === valueAt(should[index], key)));
    return found !== undefined && same(found, index);
  });
}

/** Equal in everything that is stored: the API server omits null and empty lists. */
function isEqual(live: unknown, wanted: unknown, { emptyIsAbsent = false }: CoverRules): boolean {
  const isAbsent = emptyIsAbsent ? isEmpty : isUnset;
  const same = (one: unknown, other: unknown): boolean => {
    if (isAbsent(one) || isAbsent(other)) return isAbsent(one) && isAbsent(other);
    if (Array.isArray(one) && Array.isArray(other))
      return one.length === other.length && one.every((entry, index) => same(entry, other[index]));
    if (!isFields(one) || !isFields(other)) return one === other;
    return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) => same(one[key], other[key]));
  };
  return same(live, wanted);
}

const valueAt = (entry: unknown, key: string): unknown => (isFields(entry) ? entry[key] : undefined);

const kindOf = (rendered: unknown): string => {
  const kind = valueAt(rendered, "kind");
  return typeof kind === "string" ? kind : "";
};

const isUnset = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "" || value === 0) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
