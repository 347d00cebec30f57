// Polls for a condition in tests, instead of sleeping.
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 50;
/** Ends what hangs: a machine may stand still for many seconds while nothing is wrong. */
const TIMEOUT_MS = 60_000;
const SOURCE_CHARACTERS = 160;

/** Timeout, interval and description of a poll. */
export interface EventuallyOptions {
  readonly timeoutMs?: number;
  /** What is awaited, for the error message. Default: the source of the check. */
  readonly describe?: string;
  /** Between two checks. Use a longer interval for checks that load the cluster. */
  readonly pollMs?: number;
}

/**
 * Runs `check` until it neither throws nor returns false, and returns its value. Past the deadline it fails with the
 * last failure as the cause. `undefined` does not mean "not yet": a check made of `expect` calls returns nothing.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = TIMEOUT_MS, describe = sourceOf(check), pollMs = POLL_MS }: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const deadline = performance.now() + timeoutMs;
  for (let checks = 1; ; checks += 1) {
    let failure: unknown;
    try {
      const value = await check();
      if (isTrue(value)) return value;
      failure = new Error("the check returned false");
    } catch (error) {
      failure = error;
    }
    if (performance.now() > deadline) {
      const why = failure instanceof Error ? failure.message : String(failure);
      const times = checks === 1 ? "1 check" : `${checks} checks`;
      throw new Error(`${describe} did not come true within ${timeoutMs} ms (${times}): ${why}`, { cause: failure });
    }
    await sleep(pollMs);
  }
}

/** On one line, cut where it gets long: enough to find the check, and to see what it compares. */
function sourceOf(check: () => unknown): string {
  const source = check.toString().replaceAll(/\s+/g, " ");
  return source.length <= SOURCE_CHARACTERS ? source : `${source.slice(0, SOURCE_CHARACTERS)}…`;
}

const isTrue = <T>(value: T): value is Exclude<T, false> => value !== false;
