// Content hashes for `*-hash` annotations: equal content gives an equal hash, whatever the order of keys.
import { createHash } from "node:crypto";

const HASH_LENGTH = 16;

/**
 * JSON with sorted keys and no insignificant whitespace. Every pass over an engine hashes a pod template: few small
 * objects.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  let text = "";
  if (Array.isArray(value)) {
    for (const inner of value) text += `${text === "" ? "" : ","}${canonicalJson(inner)}`;
    return `[${text}]`;
  }
  for (const key of Object.keys(value).sort()) {
    const inner: unknown = Reflect.get(value, key);
    if (inner !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(inner)}`;
  }
  return `{${text}}`;
}

/** Lower-case hex SHA-256 of the UTF-8 string, first 16 characters. */
export function contentHash(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex").slice(0, HASH_LENGTH);
}

/** The content hash of a JSON value. */
export function jsonHash(value: unknown): string {
  return contentHash(canonicalJson(value));
}
