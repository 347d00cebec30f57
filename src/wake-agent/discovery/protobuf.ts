// The part of the protobuf wire format that discovery uses: varints and length-delimited fields. Writing returns bytes
// of one field; reading checks every length against what is left, because a peer may send anything.

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const MOST_VARINT_BYTES = 10;

/** A field with a number or an enum; only non-negative integers that a double holds exactly. */
export function integerField(field: number, value: number): Buffer {
  return Buffer.concat([tag(field, WIRE.varint), varint(value)]);
}

export function textField(field: number, value: string): Buffer {
  return bytesField(field, Buffer.from(value, "utf8"));
}

/** A nested message, from the fields it has. */
export function messageField(field: number, ...fields: readonly Buffer[]): Buffer {
  return bytesField(field, Buffer.concat(fields));
}

export function bytesField(field: number, value: Buffer): Buffer {
  return Buffer.concat([tag(field, WIRE.bytes), varint(value.length), value]);
}

function tag(field: number, wire: number): Buffer {
  return varint(field * 8 + wire);
}

function varint(value: number): Buffer {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a number for a varint: ${value}`);
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

/** The peer sent something that is not a message of this format. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
}

export interface WireField {
  readonly field: number;
  /** The number of a varint; undefined for other fields. Above 2^53 it is inexact. */
  readonly number?: number;
  /** The content of a length-delimited field, a view of the message; undefined for other fields. */
  readonly bytes?: Buffer;
}

/** The fields of a message, in order. Fields of fixed size are passed over. Throws MalformedMessage. */
export function* readFields(message: Buffer): Generator<WireField> {
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let count = 0; count < MOST_VARINT_BYTES; count++) {
      const byte = message[at];
      if (byte === undefined) throw new MalformedMessage("a number is cut off");
      at++;
      value += (byte % 0x80) * 2 ** (7 * count);
      if (byte < 0x80) return value;
    }
    throw new MalformedMessage("a number has more than ten bytes");
  };
  const skip = (length: number): Buffer => {
    if (length > message.length - at) throw new MalformedMessage("a field is longer than its message");
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const key = readVarint();
    const field = Math.floor(key / 8);
    if (field === 0 || field > 0x1fff_ffff) throw new MalformedMessage(`there is no field number ${field}`);
    switch (key % 8) {
      case WIRE.varint:
        yield { field, number: readVarint() };
        break;
      case WIRE.bytes:
        yield { field, bytes: skip(readVarint()) };
        break;
      case WIRE.fixed64:
        skip(8);
        break;
      case WIRE.fixed32:
        skip(4);
        break;
      default:
        throw new MalformedMessage(`field ${field} has the unknown wire type ${key % 8}`);
    }
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

export function textOf({ field, bytes }: WireField): string {
  if (bytes === undefined) throw new MalformedMessage(`field ${field} is not a string`);
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new MalformedMessage(`field ${field} is not UTF-8`);
  }
}
