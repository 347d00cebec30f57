// What the controller keeps in memory about an instance between passes, and may lose at any time: it saves requests (a
// Secret is not read in every pass) and counts (three rejections in a row), but correctness does not depend on it. A
// new process starts empty.
import type { InstanceIdentity } from "./names.ts";
import type { ChildKey, ClaimView, RejectedGrowth, Troubles } from "./snapshot.ts";

export interface InstanceMemory {
  /** The Secret that was verified, for which generation of the spec and when. */
  credentials?: {
    readonly secret: string;
    readonly generation: number;
    /** The version that the watch delivered, of a Secret that the operator creates. */
    readonly version: string | undefined;
    readonly checkedMs: number;
  };
  /** The troubles of the pods when they were last listed, for as long as a component is not complete. */
  pods?: { readonly sinceMs: number; readonly listedMs: number; readonly troubles: Troubles };
  /** The warning of the claim that was last quoted, and since when. */
  warning?: { readonly uid: string; readonly text: string; readonly quotedMs: number };
  /** A claim that is in no cache, as the API server last returned it, for which generation of the spec and when. */
  claim?: { readonly claim: ClaimView | undefined; readonly generation: number; readonly readMs: number };
  /** A growth that was rejected. Not retried in every pass: only another storage class can change the outcome. */
  growth?: RejectedGrowth & { readonly rejectedMs: number };
  /** The volume in the spec for which the StatefulSet was last deleted, until its successor has that volume. */
  remadeFor?: string;
  /** Passes in a row in which the API server rejected a write permanently, for one version of the spec. */
  rejections?: { readonly generation: number; readonly count: number };
  /** Children that have existed: distinguishes a repair from the first creation. */
  readonly seen: Set<ChildKey>;
  /** Why the last pass failed; removed after a success. */
  failure?: { readonly text: string; readonly count: number };
  /** What the API server stored where it differs from what was requested. */
  readonly outcomes: Map<ChildKey, string>;
}

export class InstanceMemories {
  readonly #byUid = new Map<string, InstanceMemory>();
  readonly #uidByKey = new Map<string, string>();

  /** The memory of this instance; that of an earlier instance of the same name is dropped. */
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
