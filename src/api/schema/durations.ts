// Schema nodes for durations. The pattern rejects malformed strings; the rule explains the format and rejects values
// beyond a 64-bit duration. Parsing is in go-duration.ts.
import { DAY_DURATION_PATTERN, GO_DURATION_PATTERN } from "../values/go-duration.ts";
import { string } from "./builders.ts";
import type { Node } from "./schema.ts";

interface DurationOptions {
  /** The field's name, for the error message. */
  readonly field: string;
  readonly description: string;
}

/** A Go duration: units ns, us, µs, ms, s, m, h; a bare `0`; no day unit. */
export function goDuration(options: DurationOptions & { readonly default: string }): Node<string, string, "defaulted">;
export function goDuration(options: DurationOptions): Node<string, string, "optional">;
export function goDuration({ field, ...options }: DurationOptions & { readonly default?: string }): Node<string> {
  return string({
    ...options,
    pattern: GO_DURATION_PATTERN,
    rules: [
      {
        // CEL parses durations with Go's own parser: a string that it rejects fails the rule.
        rule: "duration(self) <= duration('2562047h47m16.854775807s')",
        message:
          `${field} must be a Go duration such as 90s, 5m or 1h30m: every number except a lone 0 needs a unit, ` +
          "and the units are ns, us, µs, ms, s, m and h (there is no day unit)",
      },
    ],
  });
}

/** A Go duration that may also use `d` for 24 hours. The empty string means "not set". */
export function dayDuration(options: Omit<DurationOptions, "field">): Node<string, string, "optional"> {
  return string({ ...options, pattern: DAY_DURATION_PATTERN });
}
