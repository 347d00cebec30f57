// What the runtime needs of a logger: a constant message plus fields. The program decides how lines look.

/** What a line says besides its constant message. */
export type LogFields = Readonly<Record<string, unknown>>;

/** What the runtime needs of a logger. The program decides how lines look. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  error(message: string, error: unknown, fields?: LogFields): void;
  /** A logger that adds these fields to every line. */
  with(fields: LogFields): Logger;
}

const ignore = (): void => undefined;

/** Drops everything: for tests and for programs that print their own output. */
export const silentLogger: Logger = { debug: ignore, info: ignore, error: ignore, with: () => silentLogger };
