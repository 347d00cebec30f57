// Remembers objects that own writes removed from the cache before the watch delivered the removal: late events must not
// restore them. Bounded: forgetting the oldest allows at worst a stale object that the watch then removes.
import { isNotNewer } from "../core/resource-version.ts";

const CAPACITY = 2_048;

interface Mark {
  /** Undefined: the object is deleted. Otherwise it left the selection at this version and may return later. */
  readonly version: string | undefined;
  readonly scope: object;
  readonly sequence: number;
}

export class Tombstones {
  readonly #removalIsFinal: boolean;
  readonly #marks = new Map<string, Mark>();
  #sequence = 0;

  /** With a selector, a removal may only mean that the object is no longer selected; it may be selected again. */
  constructor(removalIsFinal: boolean) {
    this.#removalIsFinal = removalIsFinal;
  }

  get size(): number {
    return this.#marks.size;
  }

  /** Later marks have higher numbers: shows whether a mark is older than a list. */
  get sequence(): number {
    return this.#sequence;
  }

  mark(scope: object, uid: string, version?: string): void {
    const known = this.#marks.get(uid);
    if (uid === "" || (known !== undefined && known.version === undefined)) return;
    this.#marks.delete(uid);
    this.#sequence += 1;
    this.#marks.set(uid, { version, scope, sequence: this.#sequence });
    const oldest = this.#marks.size > CAPACITY ? this.#marks.keys().next().value : undefined;
    if (oldest !== undefined) this.#marks.delete(oldest);
  }

  /** Whether an event of this version is stale. Only marks made after the given sequence number count. */
  hides(uid: string, version: string, after = 0): boolean {
    const mark = this.#marks.get(uid);
    if (mark === undefined || mark.sequence <= after) return false;
    return mark.version === undefined || isNotNewer(version, mark.version);
  }

  /** The watch has delivered the removal of this object at this version. */
  settle(uid: string, version: string): void {
    const mark = this.#marks.get(uid);
    if (mark === undefined) return;
    const settled = mark.version === undefined ? this.#removalIsFinal : isNotNewer(mark.version, version);
    if (settled) this.#marks.delete(uid);
  }

  /** The watch of this scope has delivered everything up to this version. */
  settleUpTo(scope: object, version: string): void {
    this.#drop(scope, (mark) => mark.version !== undefined && isNotNewer(mark.version, version));
  }

  /** A complete list that began after the given sequence number has replaced the scope. */
  settleListed(scope: object, sequence: number): void {
    this.#drop(scope, (mark) => mark.sequence <= sequence);
  }

  clear(scope: object): void {
    this.#drop(scope, () => true);
  }

  #drop(scope: object, settled: (mark: Mark) => boolean): void {
    for (const [uid, mark] of this.#marks) if (mark.scope === scope && settled(mark)) this.#marks.delete(uid);
  }
}
