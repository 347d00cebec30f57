// Ctrl-C, SIGTERM and a closed terminal: the first requests a clean shutdown, a second Ctrl-C an immediate one.

/** One Ctrl-C may arrive twice: from the terminal and from the program that started this one. */
const SAME_MS = 500;

export interface Interrupt {
  /** Fires with the first. */
  readonly signal: AbortSignal;
  /** Called with every Ctrl-C after that. */
  onInsist(action: () => void): void;
}

export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
}

export function listenForInterrupt(): Interrupt {
  const controller = new AbortController();
  const actions: (() => void)[] = [];
  let firstMs = 0;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(name, () => {
      if (!controller.signal.aborted) {
        firstMs = performance.now();
        controller.abort(new InterruptedError(`interrupted by ${name}`));
      } else if (name === "SIGINT" && performance.now() - firstMs > SAME_MS) for (const action of actions) action();
    });
  return { signal: controller.signal, onInsist: (action) => void actions.push(action) };
}

/** Waits for the signal; keeps the program running meanwhile. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // Waiting for a signal alone does not keep a program running.
  const keepAlive = setInterval(() => undefined, 3_600_000);
  signal.addEventListener("abort", () => resolve(), { once: true });
  if (signal.aborted) resolve();
  await promise;
  clearInterval(keepAlive);
}
