// Features whose fields exist for compatibility but which the operator does not run yet. Enabling one is refused by the
// CRD itself: nothing is ever accepted and then ignored.
import type { CelRule } from "./schema.ts";

/** The phrase that every such refusal contains. */
export const NOT_AVAILABLE = "is not available yet";

/** A rule for a boolean that switches the feature on: `true` is refused, `false` and absence are fine. */
export function refuseEnabling(path: string, feature: string): CelRule {
  return {
    rule: "!self",
    message: `${feature} ${NOT_AVAILABLE}: leave ${path} unset or false`,
    reason: "FieldValueForbidden",
  };
}
