// The inside's end of the conversation with the host: runs what it asks for, one after the other, until its input ends. Standard output
// belongs to this conversation alone.
import { createInterface } from "node:readline";
import { type Message, parseCall, renderLine } from "../calls.ts";

export type Calls = Readonly<Record<string, (input: unknown) => Promise<unknown>>>;

const send = (message: Message): void => {
  process.stdout.write(renderLine(message));
};

export const tellProgress = (line: string): void => send({ type: "progress", line });

/** Resolves when the host has no more to ask, or is gone. `ending` fires at that moment, also while a call still runs. */
export async function answerCalls(calls: Calls, ending: AbortController): Promise<void> {
  // A host that is gone reads no answers: that is what the end of the input says already.
  process.stdout.on("error", () => ending.abort());
  // Ended in order by the end of the input, not by a signal in the middle.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => ending.abort());
  const lines = createInterface({ input: process.stdin });
  lines.once("close", () => ending.abort(new Error("the host has ended the playground")));
  ending.signal.addEventListener("abort", () => lines.close(), { once: true });
  let last: Promise<void> = Promise.resolve();
  lines.on("line", (line) => {
    last = last.then(() => answer(calls, line));
  });
  await untilAborted(ending.signal);
  await last;
  process.stdin.destroy();
}

async function answer(calls: Calls, line: string): Promise<void> {
  const { id, call, input } = parseCall(line);
  try {
    const run = calls[call];
    if (run === undefined) throw new Error(`the inside knows no call ${JSON.stringify(call)}`);
    send({ type: "answer", id, output: await run(input) });
  } catch (error) {
    send({ type: "failure", id, why: error instanceof Error ? describe(error) : String(error) });
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
