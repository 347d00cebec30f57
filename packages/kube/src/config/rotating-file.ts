// The content of a file that another process replaces from time to time (tokens, certificates). Checks the file at most
// every ten seconds and reads it only if it changed; while the file is missing or empty, the last content is kept.
import { readFileSync, statSync } from "node:fs";
import type { Clock } from "../core/clock.ts";
import { CredentialsError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";

/** The file system operations that credentials need. */
export interface FileAccess {
  read(path: string): string;
  /** Changes whenever the file is written or replaced. */
  fingerprint(path: string): string;
}

export const diskFiles: FileAccess = {
  read: (path) => readFileSync(path, "utf8"),
  fingerprint(path) {
    // Follows links: the kubelet rotates by pointing a symbolic link at a new folder.
    const { ino, mtimeMs, size } = statSync(path);
    return `${ino}/${mtimeMs}/${size}`;
  },
};

export interface RotatingFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly files: FileAccess;
}

const CHECK_EVERY_MS = 10_000;

export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #content: string | undefined;
  #fingerprint = "";
  #checkedMs = Number.NEGATIVE_INFINITY;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  /** The content, trimmed. Throws only if the file has never been readable. */
  current(): string {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#content !== undefined && nowMs - this.#checkedMs < CHECK_EVERY_MS) return this.#content;
    this.#checkedMs = nowMs;
    return this.#check(false);
  }

  /** Reads the file now, regardless of its age and fingerprint. */
  reread(): string {
    return this.#check(true);
  }

  #check(force: boolean): string {
    const { path, files, logger } = this.#options;
    try {
      const fingerprint = files.fingerprint(path);
      if (force || this.#content === undefined || fingerprint !== this.#fingerprint) {
        const content = files.read(path).trim();
        if (content === "") throw new CredentialsError(`${path} is empty`);
        this.#content = content;
        this.#fingerprint = fingerprint;
      }
    } catch (cause) {
      if (this.#content === undefined)
        throw new CredentialsError(`${path} cannot be read: ${cause instanceof Error ? cause.message : cause}`, {
          cause,
        });
      logger.error("credential file cannot be read, keeping its last content", cause, { path });
    }
    return this.#content;
  }
}
