// A bounded map whose entries expire. It knows nothing of its values; the time comes from its clock.
import type { Clock } from "./clock.ts";

interface Entry<V> {
  readonly value: V;
  readonly untilMs: number;
}

export class ExpiringCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #clock: Clock;
  readonly #limit: number;

  constructor(clock: Clock, limit: number) {
    this.#clock = clock;
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#clock.monotonicMs() < entry.untilMs) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: V, lifetimeMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    // Rewriting an entry makes it the newest.
    this.#entries.delete(key);
    if (this.#entries.size >= this.#limit) this.#makeRoom(nowMs);
    this.#entries.set(key, { value, untilMs: nowMs + lifetimeMs });
  }

  /** Removes expired entries; if there are none, the oldest. */
  #makeRoom(nowMs: number): void {
    for (const [key, { untilMs }] of this.#entries) if (untilMs <= nowMs) this.#entries.delete(key);
    if (this.#entries.size < this.#limit) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }
}
