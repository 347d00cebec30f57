// A serving pair from two files that another party replaces: a mounted Secret, cert-manager, an administrator. Watches
// their folder and also polls it, since not every file system reports changes. An unusable pair never replaces a usable
// one.
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
  type ServingPair,
  UnusablePairError,
} from "./serving-certificate.ts";

/** Options of a certificate from files. */
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
/** Until the first pair is loaded. */
const FIRST_POLL_MS = 500;
const START_TIMEOUT_MS = 60_000;

/** A pair from two files that another party replaces. An unusable pair never replaces a usable one. */
export function createCertificateFiles(options: CertificateFilesOptions): CertificateSource {
  return new CertificateFiles(options);
}

class CertificateFiles extends PairHolder implements CertificateSource {
  readonly #options: CertificateFilesOptions;
  readonly #observer: CertificateObserver;
  #problem = "";

  constructor(options: CertificateFilesOptions) {
    super();
    this.#options = options;
    this.#observer = options.observer ?? {};
  }

  async run(signal: AbortSignal): Promise<void> {
    const { folder, clock, startTimeoutMs = START_TIMEOUT_MS } = this.#options;
    const wakeUp = new WakeUp(clock);
    const startedMs = clock.monotonicMs();
    let watcher: FSWatcher | undefined;
    try {
      while (!signal.aborted) {
        watcher ??= watchFolder(folder, () => wakeUp.call());
        this.#load();
        const loaded = this.current !== undefined;
        if (!loaded && clock.monotonicMs() - startedMs >= startTimeoutMs)
          throw new Error(`no usable certificate in ${folder} within ${startTimeoutMs / 1000} s: ${this.#problem}`);
        await wakeUp.wait(loaded ? POLL_MS : FIRST_POLL_MS, signal);
      }
    } finally {
      watcher?.close();
    }
  }

  #load(): void {
    const { folder, logger } = this.#options;
    this.#observer.read?.();
    try {
      const pair = this.#read();
      this.#problem = "";
      if (!this.set(pair)) return;
      this.#observer.loaded?.(pair);
      logger.info("certificate loaded", { folder, expires: new Date(pair.expiresMs).toISOString() });
    } catch (error) {
      if (!(error instanceof UnusablePairError) && !isFileError(error)) throw error;
      this.#observer.failed?.();
      // Logged once per problem: the files are polled every few seconds.
      if (error.message !== this.#problem) logger.error("certificate is unusable", error, { folder });
      this.#problem = error.message;
    }
  }

  #read(): ServingPair {
    const { folder, certificateName, keyName } = this.#options;
    const certificate = readFileSync(join(folder, certificateName), "utf8");
    return inspectPair({ certificate, key: readFileSync(join(folder, keyName), "utf8") });
  }
}

/**
 * The kubelet replaces a mounted Secret by moving a symbolic link in the folder, so the folder is watched, not the
 * files.
 */
function watchFolder(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    // A folder that can no longer be watched is still polled.
    watcher.on("error", onChange);
    return watcher;
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}

const isFileError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && "code" in error && typeof error.code === "string";
