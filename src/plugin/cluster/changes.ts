// Change notifications for displays that are redrawn: watches of several kinds as one stream of ticks, a burst of
// events as one tick. Carries no objects; the display reads them again.
import { isForbidden, pause, type ResourceType, systemClock } from "@firebolt-operator/kube";
import type { Cluster } from "./cluster.ts";
import { startDeadline } from "./deadline.ts";
import type { Scope } from "./find-object.ts";
import { watchKind } from "./watch-kind.ts";

const SETTLE_MS = 150;

export interface ChangesOptions {
  readonly kinds: readonly { readonly type: ResourceType; readonly scope: Scope }[];
  /** The longest time between ticks, for values that no watch reports (queries, ages). */
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/** Ticks until the signal fires. The first is immediate. */
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
      // A kind that may not be watched is read at the next tick, or shown as not readable.
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
