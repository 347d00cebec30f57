/** Replaces what was removed from a bundle. */
export const REDACTED = "REDACTED";
