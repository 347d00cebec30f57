// The content of a file that somebody else replaces from time to time (tokens, certificates). Looks at the file at most
// every ten seconds and reads it only when it changed; a file that is away or empty for a moment keeps its last content.
import { readFileSync, statSync } from "node:fs";
import type { Clock } from "../core/clock.ts";
import { CredentialsError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";

/** The file system as far as credentials need it. */
export interface FileAccess {
  read(path: string): string;
  /** Changes whenever the file is written or replaced. */
  fingerprint(path: string): string;
}

export const diskFiles: FileAccess = {
  read: (path) => readFileSync(path, "utf8"),
  fingerprint(path) {
    // Follows links: the kubelet rotates by pointing a link at a new folder.
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

  /** The content, trimmed. Throws only when the file has never been readable. */
  current(): string {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#content !== undefined && nowMs - this.#checkedMs < CHECK_EVERY_MS) return this.#content;
    this.#checkedMs = nowMs;
    return this.#look(false);
  }

  /** Reads the file now, whatever its age and fingerprint. */
  reread(): string {
    return this.#look(true);
  }

  #look(force: boolean): string {
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
