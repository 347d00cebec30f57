// Content hashes for `*-hash` annotations: equal content gives an equal hash, whatever the order of keys.
import { createHash } from "node:crypto";

const HASH_LENGTH = 16;

/** JSON with sorted keys and no insignificant whitespace. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(",")}}`;
}

/** Lower-case hex SHA-256 of the UTF-8 text, first 16 characters. */
export function contentHash(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex").slice(0, HASH_LENGTH);
}

/** The content hash of a JSON value. */
export function jsonHash(value: unknown): string {
  return contentHash(canonicalJson(value));
}
