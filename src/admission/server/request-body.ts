// Reads the body of a request into one string, up to a limit and within the budget of all bodies. A sender that is
// slow, endless or disconnected ends in a named error; nothing of an oversized body is kept.
import type { Readable } from "node:stream";
import type { Clock } from "@firebolt-operator/kube";
import type { BodyShare } from "./body-budget.ts";

export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";
}

/** The body did not arrive in time. */
export class BodyTimeoutError extends Error {
  override readonly name = "BodyTimeoutError";
}

/** The sender closed the connection before the end of the body. */
export class SenderGoneError extends Error {
  override readonly name = "SenderGoneError";
}

export interface BodyOptions {
  readonly limitBytes: number;
  /** As the sender announced it; undefined when it did not. */
  readonly announcedBytes: number | undefined;
  /** For the whole body, waits for budget aside. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly share: BodyShare;
  /** Its reason is the rejection when it fires first. */
  readonly signal: AbortSignal;
}

export function readBody(stream: Readable, options: BodyOptions): Promise<string> {
  const { limitBytes, announcedBytes, timeoutMs, clock, share, signal } = options;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let settled = false;
    let cancel = (): void => undefined;
    const settle = (finish: () => void): void => {
      if (settled) return;
      settled = true;
      cancel();
      stream.off("data", onData).off("end", onEnd).off("error", onError).off("close", onClose);
      signal.removeEventListener("abort", onAbort);
      finish();
    };
    const fail = (error: unknown): void => {
      // The rest of the body is discarded; the response closes the connection.
      if (!settled) stream.resume();
      settle(() => reject(error));
    };
    /**
     * A busy process may be late itself: bytes that have arrived are read first, and a sender that still sends may
     * continue.
     */
    const onLate = (): void => {
      const before = bytes;
      const waited = setImmediate(() => {
        if (bytes > before) onLate();
        else fail(new BodyTimeoutError(`the body did not arrive within ${timeoutMs} ms`));
      });
      cancel = () => clearImmediate(waited);
    };
    const startTimer = (): void => {
      cancel = clock.after(timeoutMs, onLate);
    };
    const waitForBudget = (): void => {
      cancel();
      stream.pause();
      share.whenAvailable(signal).then(() => {
        if (settled) return;
        startTimer();
        stream.resume();
      }, fail);
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > limitBytes) {
        fail(new BodyTooLargeError(`more than ${limitBytes} bytes`));
        return;
      }
      chunks.push(chunk);
      // A complete body does not wait.
      if (!share.add(chunk.length) && bytes !== announcedBytes) waitForBudget();
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, bytes).toString("utf8")));
    const onError = (cause: Error): void =>
      fail(new SenderGoneError("the connection failed before the end of the body", { cause }));
    const onClose = (): void => fail(new SenderGoneError("the connection was closed before the end of the body"));
    const onAbort = (): void => fail(signal.reason);
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    signal.addEventListener("abort", onAbort, { once: true });
    startTimer();
    stream.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose);
  });
}
