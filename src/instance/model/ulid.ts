// Account ids: 26 characters of Crockford's base 32, the time first, then 80 random bits. Admission and the controller
// create them the same way. Clock and randomness are arguments.

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;
export const ULID_RANDOM_BYTES = 10;

/** `random` has ten bytes of cryptographic quality. */
export function makeUlid(nowMs: number, random: Uint8Array): string {
  if (random.length !== ULID_RANDOM_BYTES) throw new RangeError(`a ULID takes ${ULID_RANDOM_BYTES} random bytes`);
  const bits = random.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return encode(BigInt(Math.trunc(nowMs)), TIME_CHARACTERS) + encode(bits, RANDOM_CHARACTERS);
}

function encode(value: bigint, length: number): string {
  let text = "";
  for (let rest = value, index = 0; index < length; index++, rest >>= 5n) text = ALPHABET[Number(rest & 31n)] + text;
  return text;
}
