// Standard output of subcommands that print and end: all of it, or quietly less when the reader (`head`, a pager) has gone.

const GONE = "EPIPE";

/** Resolves to the exit code. */
export function print(text: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      if (error.code === GONE) resolve(0);
      else reject(error);
    };
    // Stays: the stream tells of a reader that has gone more than once.
    process.stdout.on("error", onError);
    process.stdout.write(`${text}\n`, (error) => {
      if (error === undefined || error === null) resolve(0);
      else onError(error);
    });
  });
}
