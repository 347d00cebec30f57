// The protocol between the host and a sandboxed process: lines of JSON over the standard streams of the latter. The host sends calls, the
// process responds and reports progress in between. Pure functions, used by both sides.

/** Host → sandbox. */
export interface Call {
  readonly id: number;
  readonly call: string;
  readonly input: unknown;
}

/** Sandbox → host. */
export type Message =
  | { readonly type: "progress"; readonly line: string }
  | { readonly type: "response"; readonly id: number; readonly output: unknown }
  | { readonly type: "failure"; readonly id: number; readonly reason: string };

export const renderLine = (value: Call | Message): string => `${JSON.stringify(value)}\n`;

export function parseCall(line: string): Call {
  const { id, call, input } = parseObject(line) ?? {};
  if (typeof id !== "number" || typeof call !== "string") throw new Error(`not a call: ${line}`);
  return { id, call, input };
}

/** Undefined for a line that is not a message: another writer has used the same stream. */
export function parseMessage(line: string): Message | undefined {
  const { type, id, line: text, output, reason } = parseObject(line) ?? {};
  if (type === "progress" && typeof text === "string") return { type, line: text };
  if (type === "response" && typeof id === "number") return { type, id, output };
  if (type === "failure" && typeof id === "number" && typeof reason === "string") return { type, id, reason };
  return undefined;
}

function parseObject(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** One string field of the input or output of a call. */
export function stringOf(value: unknown, key: string): string {
  const found = isRecord(value) ? value[key] : undefined;
  if (typeof found !== "string") throw new Error(`${key} is missing in ${JSON.stringify(value)}`);
  return found;
}
