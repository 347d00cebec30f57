// Splits a byte stream into lines, as bytes: a character split over two chunks stays whole, and a line that is not
// needed is not decoded. Joins the pieces of a long line once, so the cost is linear in its length.
import { ResponseTooLargeError } from "../core/errors.ts";

const NEWLINE = 0x0a;
const BLANK = 0x20;

export class LineSplitter {
  readonly #maxLineBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that this chunk completes, without blank ones. They are views of the chunk: copy a line to keep it. */
  *push(chunk: Buffer): Generator<Buffer> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      const line = this.#heldBytes === 0 ? piece : this.#join(piece);
      start = end + 1;
      if (!isBlank(line)) yield line;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  /** The rest of a stream that ended without a newline. */
  end(): Buffer | undefined {
    const rest = this.#join(Buffer.alloc(0));
    return isBlank(rest) ? undefined : rest;
  }

  #hold(piece: Buffer): void {
    this.#held.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes > this.#maxLineBytes)
      throw new ResponseTooLargeError(`a line of the stream is longer than ${this.#maxLineBytes} bytes`);
  }

  #join(last: Buffer): Buffer {
    this.#hold(last);
    const line = Buffer.concat(this.#held, this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    return line;
  }
}

function isBlank(line: Buffer): boolean {
  for (const byte of line) if (byte > BLANK) return false;
  return true;
}
