// Cuts a byte stream into lines of text. Works on bytes, so a character split over two chunks stays whole, and joins the
// pieces of a long line once, so its cost grows with its length and no faster.
import { ResponseTooLargeError } from "./errors.ts";

const NEWLINE = 0x0a;

export class LineSplitter {
  readonly #maxLineBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that this chunk completes, without blank ones. */
  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.#heldBytes === 0 ? chunk.toString("utf8", start, end) : this.#join(chunk.subarray(start, end));
      start = end + 1;
      if (line.trim() !== "") yield line;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  /** What is left when the stream has ended without a last newline. */
  end(): string | undefined {
    const rest = this.#join(Buffer.alloc(0));
    return rest.trim() === "" ? undefined : rest;
  }

  #hold(piece: Buffer): void {
    this.#held.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes > this.#maxLineBytes)
      throw new ResponseTooLargeError(`a line of the stream is longer than ${this.#maxLineBytes} bytes`);
  }

  #join(last: Buffer): string {
    this.#hold(last);
    const line = Buffer.concat(this.#held, this.#heldBytes).toString("utf8");
    this.#held = [];
    this.#heldBytes = 0;
    return line;
  }
}
