// A serving pair out of two files that somebody else replaces: a mounted Secret, cert-manager, an administrator. Watches their
// folder and looks every ten seconds besides, since not every file system tells. A bad pair never replaces a good one.
import { type FSWatcher, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { WakeUp } from "../core/wake-up.ts";
import {
  type CertificateObserver,
  type CertificateSource,
  inspectPair,
  PairHolder,
  UnusablePairError,
} from "./serving-certificate.ts";

export interface CertificateFilesOptions {
  readonly folder: string;
  readonly certificateName: string;
  readonly keyName: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer?: CertificateObserver;
  /** How long to wait for the first pair. Default 60 s. */
  readonly startTimeoutMs?: number;
}

const POLL_MS = 10_000;
/** Until the first pair is there it is waited for more eagerly. */
const FIRST_POLL_MS = 500;
const START_TIMEOUT_MS = 60_000;

/** A pair out of two files that somebody else replaces. A bad pair never replaces a good one. */
export function createCertificateFiles(options: CertificateFilesOptions): CertificateSource {
  const { folder, clock, logger, observer = {}, startTimeoutMs = START_TIMEOUT_MS } = options;
  const paths = { certificate: join(folder, options.certificateName), key: join(folder, options.keyName) };
  const holder = new PairHolder();
  const wakeUp = new WakeUp(clock);
  let problem = "";

  const look = (): void => {
    observer.read?.();
    try {
      const certificate = readFileSync(paths.certificate, "utf8");
      const pair = inspectPair({ certificate, key: readFileSync(paths.key, "utf8") });
      problem = "";
      if (!holder.set(pair)) return;
      observer.loaded?.(pair);
      logger.info("certificate loaded", { folder, expires: new Date(pair.expiresMs).toISOString() });
    } catch (error) {
      if (!(error instanceof UnusablePairError) && !isFileError(error)) throw error;
      observer.failed?.();
      // Said once per problem: it is looked at every few seconds.
      if (error.message !== problem) logger.error("certificate cannot be used", error, { folder });
      problem = error.message;
    }
  };

  return {
    get current() {
      return holder.current;
    },
    whenLoaded: (signal) => holder.whenLoaded(signal),
    onPair: (listener) => holder.onPair(listener),
    async run(signal) {
      const startedMs = clock.monotonicMs();
      let watcher: FSWatcher | undefined;
      try {
        while (!signal.aborted) {
          watcher ??= watchFolder(folder, () => wakeUp.call());
          look();
          const loaded = holder.current !== undefined;
          if (!loaded && clock.monotonicMs() - startedMs >= startTimeoutMs)
            throw new Error(`no usable certificate in ${folder} within ${startTimeoutMs / 1000} s: ${problem}`);
          await wakeUp.wait(loaded ? POLL_MS : FIRST_POLL_MS, signal);
        }
      } finally {
        watcher?.close();
      }
    },
  };
}

/** A mounted Secret is replaced by turning a link in the folder, so the folder is watched and not the files. */
function watchFolder(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    // A folder that cannot be watched any more is still looked at every few seconds.
    watcher.on("error", onChange);
    return watcher;
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}

const isFileError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && "code" in error && typeof error.code === "string";
