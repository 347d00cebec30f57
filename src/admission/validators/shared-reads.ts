// One read for many callers that request the same object at the same time. A caller never gets a read that began before
// its call: it may have missed what the caller relies on. Such callers wait for the next read and share it.

export type Read<T> = () => Promise<T>;

interface Turn<T> {
  readonly running: Promise<unknown>;
  next: Promise<T> | undefined;
}

export class SharedReads<T> {
  readonly #turns = new Map<string, Turn<T>>();

  /** The outcome of a read that begins now or later. */
  read(key: string, read: Read<T>): Promise<T> {
    const turn = this.#turns.get(key);
    if (turn === undefined) return this.#begin(key, read);
    turn.next ??= turn.running.then(() => this.#begin(key, read));
    return turn.next;
  }

  #begin(key: string, read: Read<T>): Promise<T> {
    const result = read();
    const turn: Turn<T> = {
      running: result.then(
        () => undefined,
        () => undefined,
      ),
      next: undefined,
    };
    this.#turns.set(key, turn);
    void turn.running.then(() => {
      // Unless the next read has already begun.
      if (turn.next === undefined && this.#turns.get(key) === turn) this.#turns.delete(key);
    });
    return result;
  }
}
