/** Replaces what was removed from a bundle. */
export const REDACTED = "REDACTED";

/**
 * A replacement that keeps the parity of single quotes: rules that follow find SQL literals by their quotes, and a
 * swallowed closing quote would turn every literal behind it inside out.
 */
export function keepQuoteParity(removed: string, replacement: string): string {
  return (quotesIn(removed) - quotesIn(replacement)) % 2 === 0 ? replacement : `${replacement}'`;
}

const quotesIn = (text: string): number => text.split("'").length - 1;
