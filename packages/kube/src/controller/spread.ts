// Spreads long delays of many keys. After a start, thousands of keys are reconciled within seconds; without this they
// would become due together again, forever. The offset is derived from the key, so it is the same in every run.

/** Shorter delays are kept: users configure them, and they are too short for a burst to build up. */
const SPREAD_FROM_MS = 60_000;
const SHARE = 0.1;

/** The delay; from a minute on, up to a tenth less or more depending on the key. */
export function spreadMs(key: string, delayMs: number): number {
  return delayMs < SPREAD_FROM_MS ? delayMs : delayMs * (1 + SHARE * (2 * fractionOf(key) - 1));
}

/** Between 0 and 1, evenly distributed even if keys differ in one digit only: FNV-1a with a final mix. */
function fractionOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
