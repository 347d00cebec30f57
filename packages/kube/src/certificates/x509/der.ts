// The DER encodings (ITU-T X.690) that an X.509 certificate needs. Only writes; nothing here reads DER or knows
// certificates.

/** One tag-length-value element. */
export function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), encodeLength(body.length), body]);
}

function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

export const sequence = (...contents: readonly Uint8Array[]): Buffer => element(0x30, ...contents);
export const set = (...contents: readonly Uint8Array[]): Buffer => element(0x31, ...contents);
export const octetString = (bytes: Uint8Array): Buffer => element(0x04, bytes);
export const utf8String = (text: string): Buffer => element(0x0c, Buffer.from(text, "utf8"));
export const boolean = (value: boolean): Buffer => element(0x01, Buffer.from([value ? 0xff : 0x00]));

/** A context tag around a whole element. */
export const explicit = (tag: number, content: Uint8Array): Buffer => element(0xa0 | tag, content);
/** A context tag that replaces the tag of a primitive element. */
export const implicit = (tag: number, content: Uint8Array): Buffer => element(0x80 | tag, content);

/** A non-negative integer from its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const magnitude = bytes.subarray(start);
  // A leading one bit would make the number negative.
  const first = magnitude[0] ?? 0;
  return element(0x02, first >= 0x80 ? Buffer.from([0]) : Buffer.alloc(0), magnitude);
}

export const bitString = (bytes: Uint8Array, unusedBits = 0): Buffer => element(0x03, Buffer.from([unusedBits]), bytes);

/** A bit string of named bits: DER omits trailing zero bits. */
export function namedBits(bits: readonly number[]): Buffer {
  const highest = Math.max(...bits);
  const bytes = Buffer.alloc(Math.floor(highest / 8) + 1);
  for (const bit of bits) {
    const index = Math.floor(bit / 8);
    bytes[index] = (bytes[index] ?? 0) | (0x80 >> (bit % 8));
  }
  return bitString(bytes, 7 - (highest % 8));
}

/** An object identifier from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc % 128];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) groups.unshift((left % 128) | 0x80);
    bytes.push(...groups);
  }
  return element(0x06, Buffer.from(bytes));
}

/** A time as X.509 requires it: two-digit years until 2049, four digits after. */
export function time(moment: Date): Buffer {
  const digits = moment
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replace(/[-:T]/g, "");
  return moment.getUTCFullYear() < 2050
    ? element(0x17, Buffer.from(digits.slice(2), "ascii"))
    : element(0x18, Buffer.from(digits, "ascii"));
}
