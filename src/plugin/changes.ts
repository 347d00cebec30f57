// Says that something has changed, for displays that are drawn again: watches of several kinds come together as one stream of ticks,
// a burst of events as one tick. Carries no objects; whoever draws reads afresh.
import { isForbidden, pause, type ResourceType, systemClock } from "@firebolt-operator/kube";
import type { Cluster } from "./cluster.ts";
import { startDeadline } from "./deadline.ts";
import type { Scope } from "./find-object.ts";
import { watchKind } from "./watch-kind.ts";

const SETTLE_MS = 150;

export interface ChangesOptions {
  readonly kinds: readonly { readonly type: ResourceType; readonly scope: Scope }[];
  /** A tick comes at least this often, for what no watch tells (queries, ages). */
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/** Ticks until the signal fires. The first comes at once. */
export async function* changes(cluster: Cluster, { kinds, everyMs, signal }: ChangesOptions): AsyncGenerator<void> {
  using end = startDeadline(signal);
  const ended = end.signal;
  const own = { ...cluster, call: { ...cluster.call, signal: ended } };
  let wake: () => void = () => undefined;
  let failure: { readonly error: unknown } | undefined;
  let pending = true;
  const changed = (): void => {
    pending = true;
    wake();
  };
  const watching = kinds.map(async ({ type, scope }) => {
    try {
      for await (const _ of watchKind(own, type, { scope, resourceVersion: undefined })) changed();
    } catch (error) {
      // What may not be watched is read with the next tick, or shown as not readable.
      if (isForbidden(error)) return;
      failure ??= { error };
      changed();
    }
  });
  try {
    while (!ended.aborted) {
      if (!pending) {
        using next = startDeadline(ended, everyMs);
        wake = () => next.end();
        await untilFired(next.signal);
        await pause(systemClock, SETTLE_MS, ended);
      }
      pending = false;
      if (failure !== undefined) throw failure.error;
      if (!ended.aborted) yield;
    }
  } finally {
    end.end();
    await Promise.all(watching);
  }
}

function untilFired(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
