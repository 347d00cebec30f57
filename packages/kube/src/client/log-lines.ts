// Reads the lines of a log from an open response. Reads no faster than its consumer, and interprets nothing.
import type { IncomingMessage } from "node:http";
import { KubeConnectionError, ResponseTooLargeError } from "../core/errors.ts";
import { LineSplitter } from "./line-splitter.ts";

export interface LogStream {
  readonly response: IncomingMessage;
  readonly signal: AbortSignal;
  readonly maxLineBytes: number;
  readonly request: string;
}

export async function* logLines({ response, signal, maxLineBytes, request }: LogStream): AsyncGenerator<string> {
  const lines = new LineSplitter(maxLineBytes);
  const stop = (): void => void response.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of response) for (const line of lines.push(chunk)) yield String(line);
    const rest = lines.end();
    if (rest !== undefined) yield String(rest);
  } catch (cause) {
    // The caller aborted: how the connection ended does not matter.
    if (signal.aborted) return;
    if (cause instanceof ResponseTooLargeError) throw cause;
    throw new KubeConnectionError(`${request}: connection broken: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  } finally {
    signal.removeEventListener("abort", stop);
    response.destroy();
  }
}
