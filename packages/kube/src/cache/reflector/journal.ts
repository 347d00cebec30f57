// Turns reflector notes into log lines and counters. An outage of an hour produces a few error lines, not thousands.
import type { Logger } from "../../core/logger.ts";
import type { CacheObserver } from "../cache.ts";
import type { ReflectorNote } from "./states.ts";

/** Of consecutive failures, the first and then every tenth is logged as an error; the others at debug level. */
const LOG_EVERY = 10;

export interface ReflectorJournal {
  readonly logger: Logger;
  readonly observer: CacheObserver;
  /** The reflector has a complete list, or its namespace cannot be read and is not waited for. */
  readonly onSettled: () => void;
  readonly onStreamingUnsupported: () => void;
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
          const why = new Error("the server's history is older than the cached state: its storage was restored");
          logger.error("the list replaces everything in the cache", why, { version: note.version });
        } else logger.debug("listed", { reason: note.reason, version: note.version });
        journal.onSettled();
        return;
      case "relisting":
        logger.info("relisting", { reason: note.reason, cause: messageOf(note.error) });
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
        if (failures % LOG_EVERY === 0) logger.error("list or watch failed, retrying", error, { failures, retryMs });
        else logger.debug("list or watch failed, retrying", { failures, retryMs, cause: messageOf(error) });
        return;
      }
      case "unavailable":
        observer.failed?.(note.error);
        if (!unavailable)
          logger.error("namespace cannot be read, continuing without it", note.error, { retryMs: note.retryMs });
        unavailable = true;
        journal.onSettled();
        return;
      case "streamingUnsupported":
        logger.info("the server does not support streaming lists, listing in pages", { cause: messageOf(note.error) });
        journal.onStreamingUnsupported();
        return;
    }
  };
}

function messageOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  return error instanceof Error ? error.message : String(error);
}
