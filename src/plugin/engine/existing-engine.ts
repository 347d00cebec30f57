// Compares an existing engine with what `engine create` requests. Pure.
import { isObject } from "../../podtemplate/shapes/shape.ts";
import { sameJson } from "../plan/three-way.ts";

/** Values that may be shown, because flags set them. Engine configuration may hold secrets: only its path is named. */
const SHOWN: ReadonlySet<string> = new Set(["spec.instanceRef", "spec.engineClassRef", "spec.replicas"]);

export interface FieldDifference {
  readonly path: string;
  /** `path: is → wanted`, or the path alone where values are not shown. */
  readonly text: string;
}

/** The requested fields that differ. Fields that were not requested do not count. */
export function differencesFrom(existing: unknown, wanted: unknown, path = "spec"): readonly FieldDifference[] {
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
  return [{ path, text: shows ? `${path}: ${valueText(existing)} \u2192 ${valueText(wanted)}` : path }];
}

/** Containers are matched by name, not by order. */
function counterpart(list: readonly unknown[], value: unknown, index: number): unknown {
  const name = isObject(value) ? value["name"] : undefined;
  return name === undefined ? list[index] : list.find((one) => isObject(one) && one["name"] === name);
}

const valueText = (value: unknown): string => (value === undefined ? "unset" : String(value));
