// What the controller remembers of an instance between passes, and may lose at any time: nothing here is needed to be right, only
// to be cheap (a Secret is not read in every pass) or patient (three refusals in a row). A new process starts with none of it.
import type { InstanceIdentity } from "./names.ts";
import type { ChildKey, ClaimView, RefusedGrowth, Troubles } from "./snapshot.ts";

export interface InstanceMemory {
  /** The Secret that was found usable, for which version of the spec and when. */
  credentials?: {
    readonly secret: string;
    readonly generation: number;
    /** As the watch showed it; of a Secret that the operator makes. */
    readonly version: string | undefined;
    readonly checkedMs: number;
  };
  /** What the pods said when they were last listed, for as long as a component is not complete. */
  pods?: { readonly sinceMs: number; readonly listedMs: number; readonly troubles: Troubles };
  /** What was last quoted of the claim's warnings, and since when. */
  warning?: { readonly uid: string; readonly text: string; readonly quotedMs: number };
  /** What the API server last said of a claim that no cache shows, for which version of the spec and when. */
  claim?: { readonly claim: ClaimView | undefined; readonly generation: number; readonly readMs: number };
  /** Not tried in every pass: only another storage class can change the outcome. */
  growth?: RefusedGrowth & { readonly refusedMs: number };
  /** What the spec said of the volume when the StatefulSet was last deleted for it, as long as the one that followed is no better. */
  remadeFor?: string;
  /** Passes in a row in which the API server rejected a write permanently, for one version of the spec. */
  rejections?: { readonly generation: number; readonly count: number };
  /** Children that were there, to tell a repair from the first writing. */
  readonly seen: Set<ChildKey>;
  /** Why the last pass failed; a success forgets it. */
  failure?: { readonly text: string; readonly count: number };
  /** What writes came to where that is not what was asked for. */
  readonly outcomes: Map<ChildKey, string>;
}

export class InstanceMemories {
  readonly #byUid = new Map<string, InstanceMemory>();
  readonly #uidByKey = new Map<string, string>();

  /** The memory of this instance; one of an older instance of the same name is dropped. */
  of({ namespace, name, uid }: InstanceIdentity): InstanceMemory {
    const key = `${namespace}/${name}`;
    if (this.#uidByKey.get(key) !== uid) this.forget({ namespace, name });
    this.#uidByKey.set(key, uid);
    const memory = this.#byUid.get(uid) ?? { outcomes: new Map(), seen: new Set() };
    this.#byUid.set(uid, memory);
    return memory;
  }

  forget({ namespace, name }: Omit<InstanceIdentity, "uid">): void {
    const key = `${namespace}/${name}`;
    this.#byUid.delete(this.#uidByKey.get(key) ?? "");
    this.#uidByKey.delete(key);
  }

  get size(): number {
    return this.#byUid.size;
  }
}
