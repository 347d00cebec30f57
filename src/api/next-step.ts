// The next step inside a message of a condition: `CAUSE; next: STEP`. The operator writes it where it knows more than whoever reads the
// condition can find out; the plugin shows it as its own line. Pure text.

/** Not found in what others wrote: it is taken out where such text comes in (src/pods/stable-text.ts). */
export const MARK = "; next: ";

export const withNextStep = (cause: string, next: string): string => `${cause}${MARK}${next}`;

/** The last mark counts. */
export function splitNextStep(message: string): { readonly cause: string; readonly next: string | undefined } {
  const at = message.lastIndexOf(MARK);
  return at < 0
    ? { cause: message, next: undefined }
    : { cause: message.slice(0, at), next: message.slice(at + MARK.length) };
}
