// Standard output of subcommands that print and exit. A reader that closes the pipe early (`head`, a pager) is not an
// error.

const BROKEN_PIPE = "EPIPE";

/** Resolves with the exit code. */
export function print(text: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      if (error.code === BROKEN_PIPE) resolve(0);
      else reject(error);
    };
    // Stays registered: the stream reports a broken pipe more than once.
    process.stdout.on("error", onError);
    process.stdout.write(`${text}\n`, (error) => {
      if (error === undefined || error === null) resolve(0);
      else onError(error);
    });
  });
}
