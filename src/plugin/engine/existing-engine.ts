// Whether an engine that exists is already what `engine create` was asked for, and if not, in which fields. Pure.
import { isObject } from "../../podtemplate/shape.ts";
import { sameJson } from "../plan/three-way.ts";

/** Values that may be shown: what people choose by flags. Engine configuration may hold secrets and is named by its path alone. */
const SHOWN: ReadonlySet<string> = new Set(["spec.instanceRef", "spec.engineClassRef", "spec.replicas"]);

/** One line per field that was asked for and is different, as `path: is → wanted`. Fields that were not asked for do not count. */
export function differencesFrom(existing: unknown, wanted: unknown, path = "spec"): readonly string[] {
  if (isObject(wanted) && isObject(existing))
    return Object.entries(wanted).flatMap(([key, value]) =>
      value === undefined ? [] : differencesFrom(existing[key], value, `${path}.${key}`),
    );
  if (Array.isArray(wanted) && Array.isArray(existing))
    return wanted.flatMap((value: unknown, index) =>
      differencesFrom(counterpart(existing, value, index), value, `${path}[${index}]`),
    );
  if (sameJson(existing, wanted)) return [];
  const shows = SHOWN.has(path) || path.endsWith(".image");
  return [shows ? `${path}: ${valueText(existing)} \u2192 ${valueText(wanted)}` : path];
}

/** Containers are told apart by their names, not by their order. */
function counterpart(list: readonly unknown[], value: unknown, index: number): unknown {
  const name = isObject(value) ? value["name"] : undefined;
  return name === undefined ? list[index] : list.find((one) => isObject(one) && one["name"] === name);
}

const valueText = (value: unknown): string => (value === undefined ? "unset" : String(value));
