// Serves the host's calls in a sandboxed process, one after the other, until standard input closes. Standard output carries the responses and
// nothing else.
import { createInterface } from "node:readline";
import { type Message, parseCall, renderLine } from "./calls.ts";

export type Calls = Readonly<Record<string, (input: unknown) => Promise<unknown>>>;

const send = (message: Message): void => {
  process.stdout.write(renderLine(message));
};

export const sendProgress = (line: string): void => send({ type: "progress", line });

/** Resolves when the host has closed the stream or exited. `ending` aborts at that moment, also while a call runs. */
export async function serveCalls(calls: Calls, ending: AbortController): Promise<void> {
  // A host that has exited reads no responses, and closes the input as well.
  process.stdout.on("error", () => ending.abort());
  // A signal starts the same clean shutdown as a closed input.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => ending.abort());
  const lines = createInterface({ input: process.stdin });
  lines.once("close", () => ending.abort(new Error("the host has stopped the playground")));
  ending.signal.addEventListener("abort", () => lines.close(), { once: true });
  let last: Promise<void> = Promise.resolve();
  lines.on("line", (line) => {
    last = last.then(() => respond(calls, line));
  });
  await untilAborted(ending.signal);
  await last;
  process.stdin.destroy();
}

async function respond(calls: Calls, line: string): Promise<void> {
  const { id, call, input } = parseCall(line);
  try {
    const run = calls[call];
    if (run === undefined) throw new Error(`unknown call ${JSON.stringify(call)}`);
    send({ type: "response", id, output: await run(input) });
  } catch (error) {
    send({ type: "failure", id, reason: error instanceof Error ? describe(error) : String(error) });
  }
}

function describe(error: Error): string {
  return error.cause instanceof Error ? `${error.message} (${describe(error.cause)})` : error.message;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
