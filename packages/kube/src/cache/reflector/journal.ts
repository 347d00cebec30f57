// What a reflector reports, as log lines and counters. A server that is away for an hour is worth a few lines, not thousands.
import type { Logger } from "../../core/logger.ts";
import type { CacheObserver } from "../cache.ts";
import type { ReflectorNote } from "./states.ts";

/** Of the failures in a row, the first and then every tenth is an error; the others are detail. */
const LOUD_EVERY = 10;

export interface ReflectorJournal {
  readonly logger: Logger;
  readonly observer: CacheObserver;
  /** The reflector has a complete list, or may not have one and need not be waited for. */
  readonly onSettled: () => void;
  readonly onStreamingRefused: () => void;
}

export function reflectorJournal(journal: ReflectorJournal): (note: ReflectorNote) => void {
  const { logger, observer } = journal;
  let unavailable = false;
  return (note) => {
    switch (note.type) {
      case "listed":
        unavailable = false;
        observer.relisted?.(note.reason);
        if (note.rewound) {
          const why = new Error("the server's history is older than what was already seen");
          logger.error("the list replaces everything known", why, { version: note.version });
        } else logger.debug("listed", { reason: note.reason, version: note.version });
        journal.onSettled();
        return;
      case "relisting":
        logger.info("listing again", { reason: note.reason, cause: textOf(note.error) });
        return;
      case "resuming":
        observer.resumed?.();
        return;
      case "event":
        observer.event?.(note.event);
        return;
      case "failed": {
        const { error, failures, retryMs } = note;
        observer.failed?.(error);
        if (failures % LOUD_EVERY === 0)
          logger.error("list or watch failed; trying again", error, { failures, retryMs });
        else logger.debug("list or watch failed; trying again", { failures, retryMs, cause: textOf(error) });
        return;
      }
      case "unavailable":
        observer.failed?.(note.error);
        if (!unavailable)
          logger.error("namespace is not available; going on without it", note.error, { retryMs: note.retryMs });
        unavailable = true;
        journal.onSettled();
        return;
      case "streamingRefused":
        logger.info("the server offers no streaming lists; reading pages from now on", { cause: textOf(note.error) });
        journal.onStreamingRefused();
        return;
    }
  };
}

function textOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  return error instanceof Error ? error.message : String(error);
}
