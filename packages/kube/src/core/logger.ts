// The logger interface of the runtime: a constant message plus fields. The program decides about the output.

/** Fields of a log line besides its constant message. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The logger interface of the runtime. The program decides about the output. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  error(message: string, error: unknown, fields?: LogFields): void;
  /** A logger that adds these fields to every line. */
  with(fields: LogFields): Logger;
}

const ignore = (): void => undefined;

/** Discards everything: for tests and for programs that print their own output. */
export const silentLogger: Logger = { debug: ignore, info: ignore, error: ignore, with: () => silentLogger };
