// The secret values of objects: data of Secrets, variables, engine configuration. They are removed from everything
// else in a bundle, in the forms in which programs print them. Pure.
import { isObject } from "../../podtemplate/shapes/shape.ts";

/** The secret values of one object. */
export function secretsOf(object: unknown): readonly string[] {
  if (!isObject(object)) return [];
  const own =
    object["kind"] === "Secret"
      ? [...Object.values(decoded(object["data"])), ...textsIn(object["data"]), ...textsIn(object["stringData"])]
      : [];
  return [...own.flatMap((value) => [value, ...lines(value)]), ...nested(object)];
}

/** A value as it is, in JSON, in a URL and in base64. */
export function formsOf(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  return [
    value,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
    Buffer.from(value).toString("base64"),
  ];
}

/** Every string below a value, as in a configuration. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

function nested(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(nested);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === "customEngineConfig") return textsIn(inner);
    if ((key === "env" || key === "httpHeaders") && Array.isArray(inner))
      return inner.flatMap((variable) => (isObject(variable) ? textsIn(variable["value"]) : []));
    return nested(inner);
  });
}

function decoded(data: unknown): Readonly<Record<string, string>> {
  if (!isObject(data)) return {};
  const texts = Object.entries(data).map(([key, value]) => [
    key,
    typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : "",
  ]);
  return Object.fromEntries(texts);
}

/** A log prints a file line by line. */
const lines = (text: string): readonly string[] =>
  text.includes("\n") ? text.split("\n").map((line) => line.trim()) : [];
