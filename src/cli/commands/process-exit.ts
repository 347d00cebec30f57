// How a long-running subcommand exits: cleanly on the first signal, at once on the second, and on a defect with a log
// line.
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

/** An unhandled rejection is a defect: the process exits, because its state can no longer be trusted. */
export function exitOnDefects(logger: Logger): void {
  process.on("unhandledRejection", (reason) => {
    logger.error("unhandled rejection", reason);
    process.exit(EXIT_DEFECT);
  });
}
