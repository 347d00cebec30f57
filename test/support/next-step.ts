// The parts of a message that ends with a next step, for tests that check them separately. The program itself never takes messages apart.
import { MARK } from "../../src/api/next-step.ts";

/** The last mark counts. */
export function splitNextStep(message: string): { readonly cause: string; readonly next: string | undefined } {
  const at = message.lastIndexOf(MARK);
  return at < 0
    ? { cause: message, next: undefined }
    : { cause: message.slice(0, at), next: message.slice(at + MARK.length) };
}
