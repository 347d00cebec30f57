// The length of hashes in the status, with room for longer ones.

/** In characters. */
export const HASH_MAX_LENGTH = 64;
