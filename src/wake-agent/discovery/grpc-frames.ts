// The framing of gRPC: every message follows a flag and its length. Collects what arrives, and gives up on a peer that
// announces more than a message may have.
import { MalformedMessage } from "./protobuf.ts";

const PREFIX_BYTES = 5;

export function frame(message: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

export class FrameReader {
  readonly #mostBytes: number;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** The messages that are complete with this chunk. Throws MalformedMessage. */
  read(chunk: Buffer): readonly Buffer[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const messages: Buffer[] = [];
    for (let message = this.#next(); message !== undefined; message = this.#next()) messages.push(message);
    return messages;
  }

  #next(): Buffer | undefined {
    if (this.#length < PREFIX_BYTES) return undefined;
    const prefix = this.#peek(PREFIX_BYTES);
    if (prefix[0] !== 0) throw new MalformedMessage("a message is compressed, which was not agreed on");
    const length = prefix.readUInt32BE(1);
    if (length > this.#mostBytes)
      throw new MalformedMessage(`a message of ${length} bytes, and at most ${this.#mostBytes} are accepted`);
    if (this.#length < PREFIX_BYTES + length) return undefined;
    const all = this.#peek(this.#length);
    const rest = all.subarray(PREFIX_BYTES + length);
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    return all.subarray(PREFIX_BYTES, PREFIX_BYTES + length);
  }

  /** The first bytes in one piece. Joins chunks only where they are needed: large messages arrive in many. */
  #peek(length: number): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && first.length >= length) return first;
    if (length === PREFIX_BYTES)
      return Buffer.concat(this.#chunks.slice(0, PREFIX_BYTES), Math.min(this.#length, length));
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}
