// An end that comes by itself: a signal that fires with its parent or after a while, whichever is first. Held by its owner, who
// closes it; signals that nobody holds may be forgotten before they fire.

export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** Whether time is up, as opposed to the parent having ended everything. */
  readonly passed: boolean;
  /** Fires it now. */
  end(): void;
}

/** What a flag with a duration asks for: 0 is no limit. */
export const limitMs = (duration: number | undefined): number | undefined => (duration === 0 ? undefined : duration);

/** Without `afterMs` it fires only with its parent, or when it is ended. */
export function startDeadline(parent: AbortSignal, afterMs?: number): Deadline {
  const controller = new AbortController();
  const state = { passed: false };
  const onParent = (): void => controller.abort(parent.reason);
  const timer =
    afterMs === undefined
      ? undefined
      : setTimeout(() => {
          state.passed = !controller.signal.aborted;
          controller.abort(new Error(`not done within ${afterMs} ms`));
        }, afterMs);
  const close = (): void => {
    clearTimeout(timer);
    parent.removeEventListener("abort", onParent);
  };
  parent.addEventListener("abort", onParent, { once: true });
  if (parent.aborted) onParent();
  return {
    signal: controller.signal,
    get passed() {
      return state.passed;
    },
    end() {
      close();
      controller.abort(new Error("no longer wanted"));
    },
    [Symbol.dispose]: close,
  };
}
