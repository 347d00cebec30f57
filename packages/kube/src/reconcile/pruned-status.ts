// Status fields that the served CRD does not have, because it is older than the controller. The API server prunes them
// without an error, and a controller that relies on them would repeat itself in every pass. They are kept in memory
// instead, for as long as the process runs.
import type { DeepReadonly, KubeObject } from "../core/object.ts";

type WithStatus = DeepReadonly<KubeObject & { status?: object }>;

interface Kept {
  readonly uid: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Remembers status fields that the API server pruned. */
export class PrunedStatus {
  readonly #fields: readonly string[];
  readonly #kept = new Map<string, Kept>();
  readonly #reported = new Set<string>();

  /** @param fields The fields of the status that the controller reads back. */
  constructor(fields: readonly string[]) {
    this.#fields = fields;
  }

  /** The object as it would be with a current CRD; the object itself where nothing was pruned. */
  restore<T extends WithStatus>(object: T): T {
    const kept = this.#kept.get(keyText(object));
    if (kept === undefined || kept.uid !== object.metadata?.uid || object.status === undefined) return object;
    return { ...object, status: { ...kept.fields, ...object.status } };
  }

  /** Compares a status write with its response. Returns fields that were pruned for the first time, for a warning. */
  compare(sent: object, response: WithStatus): readonly string[] {
    const [wanted, stored] = [new Map(Object.entries(sent)), new Map(Object.entries(response.status ?? {}))];
    const pruned = this.#fields.filter((field) => wanted.get(field) !== undefined && stored.get(field) === undefined);
    if (pruned.length === 0) this.#kept.delete(keyText(response));
    else {
      const fields = Object.fromEntries(pruned.map((field) => [field, wanted.get(field)]));
      this.#kept.set(keyText(response), { uid: response.metadata?.uid, fields });
    }
    const news = pruned.filter((field) => !this.#reported.has(field));
    for (const field of news) this.#reported.add(field);
    return news;
  }

  /** For an object that no longer exists. */
  forget(namespace: string, name: string): void {
    this.#kept.delete(`${namespace}/${name}`);
  }
}

function keyText({ metadata }: WithStatus): string {
  return `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
}
