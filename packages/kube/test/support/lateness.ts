// How late the machine is: what a bound in milliseconds has to be forgiven. All processes of a machine that stands still stand still together,
// and what comes late here came late for them as well.

const LOOK_MS = 50;

export interface Lateness extends Disposable {
  /** By how many milliseconds in all the timers of this process were late since this was started. */
  lostMs(): number;
}

export function watchLateness(): Lateness {
  let lostMs = 0;
  let lastMs = performance.now();
  const look = (): void => {
    const nowMs = performance.now();
    lostMs += Math.max(0, nowMs - lastMs - LOOK_MS);
    lastMs = nowMs;
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    lostMs: () => {
      look();
      return lostMs;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
