// Reads the body of a request into one text, up to a limit. A sender that is slow, endless or gone ends in a named error; nothing
// of an oversized body is kept.
import type { Readable } from "node:stream";

export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";
}

/** The sender hung up before the end. */
export class SenderGoneError extends Error {
  override readonly name = "SenderGoneError";
}

/** Rejects with the signal's reason when that fires first. */
export function readBody(stream: Readable, limitBytes: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (finish: () => void): void => {
      stream.off("data", onData).off("end", onEnd).off("error", onError).off("close", onClose);
      signal.removeEventListener("abort", onAbort);
      finish();
    };
    const fail = (error: unknown): void => {
      // Whatever still comes is thrown away unread; the answer says that the connection ends.
      stream.resume();
      settle(() => reject(error));
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > limitBytes) fail(new BodyTooLargeError(`more than ${limitBytes} bytes`));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, bytes).toString("utf8")));
    const onError = (cause: Error): void => fail(new SenderGoneError("the body broke off", { cause }));
    const onClose = (): void => fail(new SenderGoneError("the connection was closed before the end of the body"));
    const onAbort = (): void => fail(signal.reason);
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    signal.addEventListener("abort", onAbort, { once: true });
    stream.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose);
  });
}
