// A deadline: a signal that fires with its parent or after a timeout, whichever is first. Its owner keeps a reference
// and disposes it; without a reference it could be garbage-collected before it fires.

export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** Whether the timeout fired, and not the parent. */
  readonly passed: boolean;
  /** Fires it now. */
  end(): void;
}

/** The limit that a duration flag requests: 0 is no limit. */
export const limitMs = (duration: number | undefined): number | undefined => (duration === 0 ? undefined : duration);

/** Without `afterMs` it fires only with its parent, or when it is disposed. */
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
