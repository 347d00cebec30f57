// Rules for a duration that may use days. Unset and empty mean the same: the engine's own default.
import { parseDayDuration } from "../../api/values/go-duration.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";

export function validateDayDuration(text: string | undefined, path: string, want: "positive" | "any"): Violation[] {
  if (text === undefined || text === "") return [];
  const value = parseDayDuration(text);
  if (value === undefined)
    return [invalid(path, text, "not a duration such as 30m, 12h or 1d: the units are ns, us, ms, s, m, h and d")];
  return want === "positive" && value <= 0n ? [invalid(path, text, "must be positive")] : [];
}

const invalid = (path: string, value: string, detail: string): Violation => ({
  path,
  type: "Invalid value",
  value,
  detail,
});
