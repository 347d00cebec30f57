// Shares the strings that thousands of objects repeat: namespaces, label values, owners. Only saves memory. The pool is
// bounded and cleared when full, which loses sharing but never a string.
import type { ObjectMeta } from "../core/object.ts";

const CAPACITY = 4_096;

export class StringPool {
  readonly #strings = new Map<string, string>();

  share(value: string): string {
    const known = this.#strings.get(value);
    if (known !== undefined) return known;
    if (this.#strings.size >= CAPACITY) this.#strings.clear();
    this.#strings.set(value, value);
    return value;
  }

  /** Shares repeated strings in the metadata of one object, in place. */
  shareMetadata(metadata: ObjectMeta): void {
    if (typeof metadata.namespace === "string") metadata.namespace = this.share(metadata.namespace);
    const { labels, ownerReferences } = metadata;
    if (labels !== undefined && labels !== null)
      for (const [key, value] of Object.entries(labels)) labels[key] = this.share(value);
    if (Array.isArray(ownerReferences))
      metadata.ownerReferences = ownerReferences.map((owner) => ({
        ...owner,
        apiVersion: this.share(owner.apiVersion),
        kind: this.share(owner.kind),
        name: this.share(owner.name),
        uid: this.share(owner.uid),
      }));
  }
}
