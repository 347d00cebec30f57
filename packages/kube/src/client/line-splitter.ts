// Cuts a byte stream into lines, as bytes: a character split over two chunks stays whole, and who need not read a line need not
// decode it. Joins the pieces of a long line once, so its cost grows with its length and no faster.
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

  /** The lines that this chunk completes, without blank ones. They are parts of the chunk: whoever keeps one copies it. */
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

  /** What is left when the stream has ended without a last newline. */
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
