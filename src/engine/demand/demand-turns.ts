// Which gateway is polled for demand next. Gateways that responded last time never wait behind those that did not: the
// two have lanes of their own, each with a bound, so that any number of gateways that hang takes a bounded number of
// connections and delays no other.

/**
 * In each of the two lanes. A gateway that hangs occupies a slot for three seconds, one that responds for milliseconds.
 */
const AT_ONCE_PER_LANE = 64;
/**
 * Connections that the client must be able to open: a request that queued there would use up its time before it is
 * sent.
 */
export const DEMAND_AT_ONCE = 2 * AT_ONCE_PER_LANE;

interface Lane {
  /** In the order in which they came. */
  readonly waiting: Map<string, Turn>;
  running: number;
}

/** Resolves to whether the gateway responded; never rejects. */
type Turn = () => Promise<boolean>;

export class DemandTurns {
  readonly #lanes: readonly [Lane, Lane] = [
    { waiting: new Map(), running: 0 },
    { waiting: new Map(), running: 0 },
  ];
  readonly #running = new Map<string, Promise<void>>();
  readonly #responded = new Set<string>();

  /** Not added while it runs, or waits, already. */
  add(key: string, turn: Turn): void {
    if (this.#running.has(key) || this.#lanes.some(({ waiting }) => waiting.has(key))) return;
    const lane = this.#lanes[this.#responded.has(key) ? 0 : 1];
    lane.waiting.set(key, turn);
    this.#fill(lane);
  }

  /** Forgets all but these, and turns of others that have not begun. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#responded) if (!keys.has(key)) this.#responded.delete(key);
    for (const { waiting } of this.#lanes) for (const key of waiting.keys()) if (!keys.has(key)) waiting.delete(key);
  }

  /** Begins no other turn, and waits for those that have begun. */
  async end(): Promise<void> {
    for (const { waiting } of this.#lanes) waiting.clear();
    await Promise.all(this.#running.values());
  }

  #fill(lane: Lane): void {
    for (const [key, turn] of lane.waiting) {
      if (lane.running >= AT_ONCE_PER_LANE) return;
      lane.waiting.delete(key);
      this.#running.set(key, this.#run(lane, key, turn));
    }
  }

  async #run(lane: Lane, key: string, turn: Turn): Promise<void> {
    lane.running++;
    const responded = await turn();
    lane.running--;
    this.#running.delete(key);
    if (responded) this.#responded.add(key);
    else this.#responded.delete(key);
    this.#fill(lane);
  }
}
