// Schema nodes for durations. The pattern refuses malformed text; the rule says in words what a duration looks like and
// also refuses what no 64-bit duration can hold. Parsing is in go-duration.ts.
import { DAY_DURATION_PATTERN, GO_DURATION_PATTERN } from "./go-duration.ts";
import type { Node } from "./schema.ts";
import { string } from "./schema-builders.ts";

interface DurationOptions {
  /** The field's own name: the refusal says it. */
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
        // CEL reads durations with Go's own parser, so text it refuses makes the rule fail as well.
        rule: "duration(self) <= duration('2562047h47m16.854775807s')",
        message:
          `${field} must be a Go duration such as 90s, 5m or 1h30m: every number except a lone 0 needs a unit, ` +
          "and the units are ns, us, µs, ms, s, m and h (there is no day unit)",
      },
    ],
  });
}

/** A Go duration that may also use `d` for 24 hours. The empty text means "not set". */
export function dayDuration(options: Omit<DurationOptions, "field">): Node<string, string, "optional"> {
  return string({ ...options, pattern: DAY_DURATION_PATTERN });
}
