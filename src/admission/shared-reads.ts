// One read for many who ask for the same thing at the same time. A read that has begun before somebody asked is never given to them:
// it may have missed what they rely on. They wait for the one after it, which they share.

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
      // Unless the next one has begun already, in this very moment.
      if (turn.next === undefined && this.#turns.get(key) === turn) this.#turns.delete(key);
    });
    return result;
  }
}
