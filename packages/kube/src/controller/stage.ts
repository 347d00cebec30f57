// The runnables of one group while they run: started together, stopped together. Whether a failure ends the process is not
// decided here; it is only reported.
import type { Group, Runnable } from "./runnable.ts";

export interface Stage {
  readonly group: Group;
  /** Asks all to stop and waits for them. False when `giveUp` fired first. */
  stop(giveUp: AbortSignal): Promise<boolean>;
  /** Ends without waiting, and without anything that would let another process take over. */
  abandon(): void;
  /** Names of what is still running. */
  unfinished(): readonly string[];
}

export function startStage(
  group: Group,
  members: readonly Runnable[],
  onFailure: (runnable: Runnable, error: unknown) => void,
): Stage {
  const stopping = new AbortController();
  const { signal } = stopping;
  const unfinished = new Set(members);

  const live = async (runnable: Runnable): Promise<void> => {
    try {
      await runnable.run(signal);
      if (!signal.aborted) onFailure(runnable, new Error(`${runnable.name} ended before it was asked to`));
    } catch (error) {
      // Many calls end an aborted wait by rejecting with the reason: that is a clean stop.
      if (!(signal.aborted && error === signal.reason)) onFailure(runnable, error);
    } finally {
      unfinished.delete(runnable);
    }
  };
  const all = Promise.all(members.map(live));

  return {
    group,
    async stop(giveUp) {
      stopping.abort();
      if (giveUp.aborted) return unfinished.size === 0;
      const gaveUp = Promise.withResolvers<"gaveUp">();
      const onGiveUp = (): void => gaveUp.resolve("gaveUp");
      giveUp.addEventListener("abort", onGiveUp, { once: true });
      try {
        return (await Promise.race([all, gaveUp.promise])) !== "gaveUp";
      } finally {
        giveUp.removeEventListener("abort", onGiveUp);
      }
    },
    abandon() {
      for (const runnable of unfinished) runnable.abandon?.();
      stopping.abort();
    },
    unfinished: () => [...unfinished].map(({ name }) => name),
  };
}
