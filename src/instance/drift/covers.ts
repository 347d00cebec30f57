// Whether a live object contains everything that was rendered. Fields of others and defaults of the API server are
// ignored, so neither can make the operator write the same object again and again.
import { isObject } from "../../podtemplate/shapes/shape.ts";

/**
 * Lists that server-side apply merges entry by entry, with their keys. All other lists belong to one writer.
 */
const KEYED_LISTS: ReadonlyMap<string, readonly string[]> = new Map([
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

export interface Comparison {
  readonly live: unknown;
  /** In the same normal form as `live`. */
  readonly wanted: unknown;
  /** What was rendered, before any normal form: only its fields are compared. */
  readonly requested: unknown;
}

export function covers({ live, wanted, requested }: Comparison, field = ""): boolean {
  if (requested === undefined || requested === null) return true;
  if (Array.isArray(requested)) return coversList({ live, wanted, requested }, field);
  if (!isObject(requested)) return live === wanted;
  // A normal form omits empty values; those that it keeps (`emptyDir: {}`) must be present.
  if (isObject(wanted) && !isObject(live)) return false;
  const [is, should] = [isObject(live) ? live : {}, isObject(wanted) ? wanted : {}];
  return Object.keys(requested).every((key) =>
    covers({ live: is[key], wanted: should[key], requested: requested[key] }, key),
  );
}

function coversList(
  { live, wanted, requested }: Comparison & { readonly requested: readonly unknown[] },
  field: string,
): boolean {
  const [is, should] = [Array.isArray(live) ? live : [], Array.isArray(wanted) ? wanted : []];
  const keys = KEYED_LISTS.get(field);
  if (keys === undefined)
    return (
      is.length === should.length &&
      requested.every((entry, index) => covers({ live: is[index], wanted: should[index], requested: entry }))
    );
  return requested.every((entry, index) => {
    const found = is.find((candidate) => keys.every((key) => valueAt(candidate, key) === valueAt(should[index], key)));
    return found !== undefined && covers({ live: found, wanted: should[index], requested: entry });
  });
}

function valueAt(entry: unknown, key: string): unknown {
  return isObject(entry) ? entry[key] : undefined;
}
