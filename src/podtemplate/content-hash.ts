// Content hashes for `*-hash` annotations: equal content gives an equal hash, whatever the order of keys.
import { createHash } from "node:crypto";

export { canonicalJson, jsonHash } from "@firebolt-operator/kube/reconcile";

const HASH_LENGTH = 16;

/** Lower-case hex SHA-256 of the UTF-8 string, first 16 characters. */
export function contentHash(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex").slice(0, HASH_LENGTH);
}
