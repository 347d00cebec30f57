// When each engine was last evaluated by this process: which distinguishes a quiet engine from one that was not
// observed. In memory on purpose: a stamp in the status would be a write per poll and engine, and after a restart the
// interruption is of unknown length anyway.

export class Evaluations {
  readonly #lastMs = new Map<string, number>();

  /** By the engine's uid: an engine that was deleted and created again has no past. */
  lastOf(uid: string): number | "never" {
    return this.#lastMs.get(uid) ?? "never";
  }

  note(uid: string, nowMs: number): void {
    this.#lastMs.set(uid, nowMs);
  }

  forget(uid: string): void {
    this.#lastMs.delete(uid);
  }
}
