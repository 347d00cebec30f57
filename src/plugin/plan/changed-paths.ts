// The paths of leaves that differ between two documents. Values are never shown. Pure.
import { isObject } from "../../podtemplate/shapes/shape.ts";
import { sameJson } from "./three-way.ts";

export function changedPaths(before: unknown, after: unknown, path: string): readonly string[] {
  if (sameJson(before, after)) return [];
  if (!isObject(before) || !isObject(after)) {
    // A section that is added or removed is listed by its leaves.
    const section = isObject(after) ? after : isObject(before) ? before : undefined;
    const other = isObject(after) ? before : after;
    if (section === undefined || other !== undefined) return [path];
    return Object.keys(section).flatMap((key) =>
      changedPaths(
        isObject(before) ? before[key] : undefined,
        isObject(after) ? after[key] : undefined,
        `${path}.${key}`,
      ),
    );
  }
  const keys = new Set([...Object.keys(after), ...Object.keys(before)]);
  return [...keys].flatMap((key) => changedPaths(before[key], after[key], `${path}.${key}`));
}
