// The user's part of the engine configuration: what the operator owns is taken out, the class lies below the engine.
// Free-form JSON throughout; the operator does not judge the user's keys.
import { jsonHash } from "../../podtemplate/content-hash.ts";
import { isObject, type JsonObject } from "../../podtemplate/shapes/shape.ts";

const OWNED_ROOT_KEYS: ReadonlySet<string> = new Set(["schema_version", "endpoints"]);
const OWNED_SECTION_KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  instance: new Set(["id", "type", "multi_engine", "auth"]),
  engine: new Set(["id", "nodes", "termination_grace_period"]),
};

/** The configuration without the paths that the operator owns. A section that becomes empty is dropped as well. */
export function stripOwnedPaths(config: unknown): JsonObject {
  if (!isObject(config)) return {};
  const kept: [string, unknown][] = [];
  for (const [key, value] of Object.entries(config)) {
    if (OWNED_ROOT_KEYS.has(key)) continue;
    const owned = Object.hasOwn(OWNED_SECTION_KEYS, key) ? OWNED_SECTION_KEYS[key] : undefined;
    if (owned === undefined) {
      kept.push([key, value]);
    } else if (isObject(value)) {
      const rest = Object.entries(value).filter(([child]) => !owned.has(child));
      if (rest.length > 0) kept.push([key, Object.fromEntries(rest)]);
    }
  }
  return Object.fromEntries(kept);
}

/**
 * `over` laid over `base`: objects merge, everything else is replaced. Keys of `base` keep their places and new ones
 * follow in alphabetical order, so that the order in which a user wrote them does not show.
 */
export function deepMerge(base: JsonObject, over: JsonObject): JsonObject {
  const merged = Object.entries(base).map(([key, value]): [string, unknown] => {
    if (!Object.hasOwn(over, key)) return [key, value];
    const above = over[key];
    return [key, isObject(value) && isObject(above) ? deepMerge(value, above) : sorted(above)];
  });
  const added = Object.keys(over)
    .filter((key) => !Object.hasOwn(base, key))
    .sort()
    .map((key): [string, unknown] => [key, sorted(over[key])]);
  return Object.fromEntries([...merged, ...added]);
}

export interface CustomConfig {
  readonly config: JsonObject;
  /** Absent when nothing is left of the configuration. */
  readonly hash: string | undefined;
}

/** Class below engine, both stripped. */
export function resolveCustomConfig(ofClass: unknown, ofEngine: unknown): CustomConfig {
  const config = deepMerge(deepMerge({}, stripOwnedPaths(ofClass)), stripOwnedPaths(ofEngine));
  return { config, hash: Object.keys(config).length === 0 ? undefined : jsonHash(config) };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  return isObject(value) ? deepMerge({}, value) : value;
}
