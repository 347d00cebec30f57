// Delivers changes of a cache to its listeners, in order, one batch after another. A listener that throws does not
// affect the others; subscribing or unsubscribing during a delivery neither misses nor repeats an event.
import type { KubeObject } from "../core/object.ts";
import type { CacheEvent, CacheListener } from "./cache.ts";

interface Delivery<T extends KubeObject> {
  readonly events: readonly CacheEvent<T>[];
  readonly subscriptions: readonly Subscription<T>[];
}

interface Subscription<T extends KubeObject> {
  readonly listener: CacheListener<T>;
  active: boolean;
}

export class EventHub<T extends KubeObject> {
  readonly #onFailure: (error: unknown, event: CacheEvent<T>) => void;
  readonly #subscriptions = new Set<Subscription<T>>();
  readonly #waiting: Delivery<T>[] = [];
  #delivering = false;

  constructor(onFailure: (error: unknown, event: CacheEvent<T>) => void) {
    this.#onFailure = onFailure;
  }

  /** Subscribes and first delivers the current state, given as events. Returns a function that unsubscribes. */
  subscribe(listener: CacheListener<T>, present: readonly CacheEvent<T>[]): () => void {
    const subscription = { listener, active: true };
    this.#subscriptions.add(subscription);
    this.#deliver({ events: present, subscriptions: [subscription] });
    return () => {
      subscription.active = false;
      this.#subscriptions.delete(subscription);
    };
  }

  emit(events: readonly CacheEvent<T>[]): void {
    // Only current subscribers: a listener that joins during this delivery has received a state that already includes
    // it.
    this.#deliver({ events, subscriptions: [...this.#subscriptions] });
  }

  #deliver(delivery: Delivery<T>): void {
    this.#waiting.push(delivery);
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
        for (const event of next.events)
          for (const subscription of next.subscriptions) if (subscription.active) this.#notify(subscription, event);
    } finally {
      this.#delivering = false;
    }
  }

  #notify(subscription: Subscription<T>, event: CacheEvent<T>): void {
    try {
      subscription.listener(event);
    } catch (error) {
      this.#onFailure(error, event);
    }
  }
}
