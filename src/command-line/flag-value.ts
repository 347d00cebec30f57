// Parses the value of one flag, for the operator and the kubectl plugin. Values have Go's syntax, as those of kubectl
// do.
import { goDurationMs } from "../api/values/go-duration.ts";

export type FlagValueType = "string" | "boolean" | "integer" | "number" | "duration";

export type ParsedFlagValue<V> = { readonly value: V } | { readonly problem: string };

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "true", "TRUE", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "false", "FALSE", "False"].map((text) => [text, false] as const),
]);

/** Durations in milliseconds. */
export function parseFlagValue(type: FlagValueType, text: string): ParsedFlagValue<string | boolean | number> {
  switch (type) {
    case "string":
      return { value: text };
    case "boolean":
      return found(BOOLEANS.get(text), "must be true or false");
    case "integer":
      return found(/^[+-]?\d+$/.test(text) ? Number(text) : undefined, "must be a whole number");
    case "number":
      return found(text.trim() === "" ? undefined : finite(Number(text)), "must be a number");
    case "duration":
      return found(goDurationMs(text), "must be a duration such as 15s, 1m30s or 500ms");
    default:
      return type satisfies never;
  }
}

const finite = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined);

function found<V>(value: V | undefined, problem: string): ParsedFlagValue<V> {
  return value === undefined ? { problem } : { value };
}
