// Content hashes of JSON values: equal content gives an equal hash, whatever the order of keys.
import { createHash } from "node:crypto";

/** JSON with sorted keys and without whitespace. Undefined fields are omitted. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  let json = "";
  if (Array.isArray(value)) {
    for (const inner of value) json += `${json === "" ? "" : ","}${canonicalJson(inner)}`;
    return `[${json}]`;
  }
  for (const key of Object.keys(value).sort()) {
    const inner: unknown = Reflect.get(value, key);
    if (inner !== undefined) json += `${json === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(inner)}`;
  }
  return `{${json}}`;
}

const HASH_LENGTH = 16;

/** The first 16 hexadecimal digits of the SHA-256 of the canonical JSON. */
export function jsonHash(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value), "utf8").digest("hex").slice(0, HASH_LENGTH);
}
