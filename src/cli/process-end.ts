// How a long-running subcommand ends: on the first signal in order, on the second at once, and on a defect with a line that says so.
import type { Logger } from "@firebolt-operator/kube";

const EXIT_DEFECT = 1;
const EXIT_SECOND_SIGNAL = 130;

export function stopOnSignals(stop: AbortController, logger: Logger): void {
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    process.on(name, () => {
      logger.info("signal received", { signal: name });
      if (stop.signal.aborted) process.exit(EXIT_SECOND_SIGNAL);
      stop.abort();
    });
  }
}

/** A promise nobody handles is a defect: the process ends, because its state can no longer be trusted. */
export function endOnDefects(logger: Logger): void {
  process.on("unhandledRejection", (reason) => {
    logger.error("unhandled rejection", reason);
    process.exit(EXIT_DEFECT);
  });
}
