// The slots in which probes run, and the queue for them. Two lanes, so that pods that respond never wait behind those
// that do not: unresponsive ones get at most half of the slots. First come, first served within each lane. Knows
// nothing about pods.

export type Lane = "responsive" | "unresponsive";

export interface ProbeLanesOptions<T> {
  /** How many run at once. */
  readonly places: number;
  /** Must settle, and must not reject. */
  readonly run: (item: T) => Promise<void>;
  /** Called when the slot is free again; may add the item again. */
  readonly onDone: (item: T) => void;
}

export class ProbeLanes<T> {
  readonly #options: ProbeLanesOptions<T>;
  readonly #unresponsivePlaces: number;
  /** In the order of their tickets. */
  readonly #waiting: Readonly<Record<Lane, Map<T, number>>> = { responsive: new Map(), unresponsive: new Map() };
  readonly #running = new Map<T, Lane>();
  #unresponsiveRunning = 0;
  #ticket = 0;
  #closed = false;

  constructor(options: ProbeLanesOptions<T>) {
    this.#options = options;
    // With a single slot, unresponsive pods must still be probed.
    this.#unresponsivePlaces = Math.max(1, Math.floor(options.places / 2));
  }

  has(item: T): boolean {
    return this.#running.has(item) || this.#waiting.responsive.has(item) || this.#waiting.unresponsive.has(item);
  }

  /** Without effect on an item that waits or runs. */
  add(item: T, lane: Lane): void {
    if (this.#closed || this.has(item)) return;
    this.#waiting[lane].set(item, this.#ticket++);
    this.#fill();
  }

  /** Nothing starts after this. */
  close(): void {
    this.#closed = true;
    this.#waiting.responsive.clear();
    this.#waiting.unresponsive.clear();
  }

  #fill(): void {
    while (this.#running.size < this.#options.places) {
      const lane = this.#nextLane();
      if (lane === undefined) return;
      const [[item] = []] = this.#waiting[lane];
      if (item === undefined) return;
      this.#waiting[lane].delete(item);
      this.#start(item, lane);
    }
  }

  /** The item that has waited longest, of the lanes with a free slot. */
  #nextLane(): Lane | undefined {
    const [[, responsive] = []] = this.#waiting.responsive;
    const [[, unresponsive] = []] = this.#waiting.unresponsive;
    if (unresponsive === undefined || this.#unresponsiveRunning >= this.#unresponsivePlaces)
      return responsive === undefined ? undefined : "responsive";
    return responsive !== undefined && responsive < unresponsive ? "responsive" : "unresponsive";
  }

  #start(item: T, lane: Lane): void {
    this.#running.set(item, lane);
    if (lane === "unresponsive") this.#unresponsiveRunning += 1;
    void this.#options.run(item).then(() => {
      this.#running.delete(item);
      if (lane === "unresponsive") this.#unresponsiveRunning -= 1;
      this.#options.onDone(item);
      this.#fill();
    });
  }
}
