// Whether a live object holds everything that a rendered one contains. Fields that others added, or that the API server
// defaulted, do not count, so that a controller never repeats the same write forever.
import { isFields } from "../core/fields.ts";

/** Two sides of a comparison. */
export interface Comparison {
  readonly live: unknown;
  /** What `live` should be, in the same normal form as `live`. */
  readonly wanted: unknown;
  /** The rendered object before any normalisation: only its fields are compared. Default: `wanted`. */
  readonly rendered?: unknown;
}

/** How lists and empty values are compared. */
export interface CoverRules {
  /** Lists whose entries are identified by fields, by the name of the list. Default: {@link KEYED_LISTS}. */
  readonly keyedLists?: ReadonlyMap<string, readonly string[]>;
  /** All other lists: "exact" (default) compares entry by entry, "subset" ignores order and additional entries. */
  readonly otherLists?: "exact" | "subset";
  /** Treats false, 0, "", and empty lists and objects as absent: the API server omits many of them. Default false. */
  readonly emptyIsAbsent?: boolean;
}

/** Lists of pods and Services that server-side apply merges entry by entry, with their keys. */
export const KEYED_LISTS: ReadonlyMap<string, readonly string[]> = new Map([
  ["containers", ["name"]],
  ["initContainers", ["name"]],
  ["volumes", ["name"]],
  ["env", ["name"]],
  ["imagePullSecrets", ["name"]],
  ["volumeMounts", ["mountPath"]],
  ["volumeDevices", ["devicePath"]],
  ["ports", ["containerPort", "port", "protocol"]],
  ["topologySpreadConstraints", ["topologyKey", "whenUnsatisfiable"]],
]);

/** Whether `live` holds everything that was rendered. */
export function covers(comparison: Comparison, rules: CoverRules = {}): boolean {
  const { live, wanted, rendered = wanted } = comparison;
  return coversValue({ live, wanted, rendered }, "", rules);
}

function coversValue({ live, wanted, rendered }: Comparison, field: string, rules: CoverRules): boolean {
  if (rendered === undefined || rendered === null) return true;
  if (rules.emptyIsAbsent === true && isEmpty(rendered)) return isEmpty(live) || typeof rendered === "object";
  if (Array.isArray(rendered)) return coversList({ live, wanted, rendered }, field, rules);
  if (!isFields(rendered)) return live === wanted;
  // A normal form omits what has no effect; what it keeps (`emptyDir: {}`) must exist.
  if (isFields(wanted) && !isFields(live)) return false;
  const [is, should] = [isFields(live) ? live : {}, isFields(wanted) ? wanted : {}];
  return Object.keys(rendered).every((key) =>
    coversValue({ live: is[key], wanted: should[key], rendered: rendered[key] }, key, rules),
  );
}

function coversList(
  { live, wanted, rendered }: Comparison & { readonly rendered: readonly unknown[] },
  field: string,
  rules: CoverRules,
): boolean {
  const [is, should] = [Array.isArray(live) ? live : [], Array.isArray(wanted) ? wanted : []];
  const same = (one: unknown, index: number): boolean =>
    coversValue({ live: one, wanted: should[index], rendered: rendered[index] }, "", rules);
  const keys = (rules.keyedLists ?? KEYED_LISTS).get(field);
  if (keys !== undefined)
    return rendered.every((_, index) => {
      const found = is.find((one) => keys.every((key) => valueAt(one, key) === valueAt(should[index], key)));
      return found !== undefined && same(found, index);
    });
  if (rules.otherLists === "subset") return rendered.every((_, index) => is.some((one) => same(one, index)));
  return is.length === should.length && rendered.every((_, index) => same(is[index], index));
}

const valueAt = (entry: unknown, key: string): unknown => (isFields(entry) ? entry[key] : undefined);

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "" || value === 0) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
