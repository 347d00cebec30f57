// The runnables of one group while they run: started together, stopped together. Failures are only reported; the
// manager decides what follows.
import type { Group, Runnable } from "./runnable.ts";

export interface Stage {
  readonly group: Group;
  /** Stops all and waits for them. False if `giveUp` fired first. */
  stop(giveUp: AbortSignal): Promise<boolean>;
  /** Stops without waiting, and without releasing anything that would let another process take over. */
  abandon(): void;
  /** Names of the parts that are still running. */
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
      if (!signal.aborted) onFailure(runnable, new Error(`${runnable.name} returned before it was stopped`));
    } catch (error) {
      // Many calls reject an aborted wait with the signal's reason: that is a clean stop.
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
