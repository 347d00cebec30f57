// How the two halves of the playground talk: lines of JSON over the standard streams of the half inside the namespaces. The host asks, the
// inside answers, and tells its progress in between. Pure: both ends use it, neither is here.

/** Host → inside. */
export interface Call {
  readonly id: number;
  readonly call: string;
  readonly input: unknown;
}

/** Inside → host. */
export type Message =
  | { readonly type: "progress"; readonly line: string }
  | { readonly type: "answer"; readonly id: number; readonly output: unknown }
  | { readonly type: "failure"; readonly id: number; readonly why: string };

export const renderLine = (value: Call | Message): string => `${JSON.stringify(value)}\n`;

export function parseCall(line: string): Call {
  const { id, call, input } = parseObject(line) ?? {};
  if (typeof id !== "number" || typeof call !== "string") throw new Error(`not a call: ${line}`);
  return { id, call, input };
}

/** Undefined for a line that is no message: then something else has written to the same stream. */
export function parseMessage(line: string): Message | undefined {
  const { type, id, line: text, output, why } = parseObject(line) ?? {};
  if (type === "progress" && typeof text === "string") return { type, line: text };
  if (type === "answer" && typeof id === "number") return { type, id, output };
  if (type === "failure" && typeof id === "number" && typeof why === "string") return { type, id, why };
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

/** One text field of what a call was given or has answered. */
export function textOf(value: unknown, key: string): string {
  const found = isRecord(value) ? value[key] : undefined;
  if (typeof found !== "string") throw new Error(`${key} is missing in ${JSON.stringify(value)}`);
  return found;
}
