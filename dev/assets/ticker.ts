// Progress of long steps for people: one line when a step begins, one every few seconds, one when it is done.

const TICK_MS = 5_000;

export type Progress = (line: string) => void;

/** Runs `step` and reports how long it takes. `detail` adds what is known so far, e.g. megabytes. */
export async function withTicker<T>(
  what: string,
  progress: Progress,
  step: (detail: (text: string) => void) => Promise<T>,
): Promise<T> {
  const startedMs = performance.now();
  const seconds = () => Math.round((performance.now() - startedMs) / 1000);
  let known = "";
  progress(`${what} …`);
  const timer = setInterval(() => progress(`${what}: ${seconds()} s${known}`), TICK_MS);
  try {
    const result = await step((text) => {
      known = `, ${text}`;
    });
    progress(`${what}: done after ${seconds()} s${known}`);
    return result;
  } finally {
    clearInterval(timer);
  }
}
