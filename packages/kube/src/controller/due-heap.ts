// A binary heap of entries ordered by due time, first in first out among equals. Every entry knows its slot, so that it
// can be moved or removed in O(log n). Knows nothing of keys, workers or clocks.

export interface DueEntry {
  dueMs: number;
  /** Orders entries with the same due time: the smaller one comes first. */
  order: number;
  /** Index of the entry in the heap; -1 when it is in none. Written only by the heap. */
  slot: number;
}

export class DueHeap<E extends DueEntry> {
  readonly #entries: E[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** The entry that is due first; it stays in the heap. */
  first(): E | undefined {
    return this.#entries[0];
  }

  push(entry: E): void {
    entry.slot = this.#entries.length;
    this.#entries.push(entry);
    this.#up(entry);
  }

  /** Removes an entry. False if it was not in this heap. */
  remove(entry: E): boolean {
    if (this.#entries[entry.slot] !== entry) return false;
    const last = this.#entries.pop();
    if (last !== undefined && last !== entry) {
      this.#put(last, entry.slot);
      this.#up(last);
      this.#down(last);
    }
    entry.slot = -1;
    return true;
  }

  clear(): void {
    for (const entry of this.#entries) entry.slot = -1;
    this.#entries.length = 0;
  }

  #put(entry: E, slot: number): void {
    this.#entries[slot] = entry;
    entry.slot = slot;
  }

  #up(entry: E): void {
    while (entry.slot > 0) {
      const slot = entry.slot;
      const parent = this.#entries[(slot - 1) >> 1];
      if (parent === undefined || !before(entry, parent)) return;
      this.#put(entry, parent.slot);
      this.#put(parent, slot);
    }
  }

  #down(entry: E): void {
    for (;;) {
      const slot = entry.slot;
      const left = this.#entries[2 * slot + 1];
      const right = this.#entries[2 * slot + 2];
      const child = right !== undefined && left !== undefined && before(right, left) ? right : left;
      if (child === undefined || !before(child, entry)) return;
      this.#put(entry, child.slot);
      this.#put(child, slot);
    }
  }
}

function before(a: DueEntry, b: DueEntry): boolean {
  return a.dueMs === b.dueMs ? a.order < b.order : a.dueMs < b.dueMs;
}
