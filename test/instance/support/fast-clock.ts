// The real clock, run faster: timers of half a minute fire within a second. For tests of what happens while nothing happens.
import { type Clock, systemClock } from "@firebolt-operator/kube";

export function fastClock(factor: number): Clock {
  const startMs = systemClock.now();
  const startMonotonicMs = systemClock.monotonicMs();
  const elapsedMs = () => (systemClock.monotonicMs() - startMonotonicMs) * factor;
  return {
    now: () => startMs + elapsedMs(),
    monotonicMs: () => startMonotonicMs + elapsedMs(),
    after: (delayMs, callback) => systemClock.after(delayMs / factor, callback),
  };
}
