// Features whose fields exist for compatibility but which are not available yet. The CRD rejects enabling one: nothing
// is ever accepted and then ignored.
import type { CelRule } from "./schema.ts";

/** In every such error message. */
export const NOT_AVAILABLE = "is not available yet";

/** A rule for a boolean that enables the feature: rejects `true`, accepts `false` and absence. */
export function rejectEnabling(path: string, feature: string): CelRule {
  return {
    rule: "!self",
    message: `${feature} ${NOT_AVAILABLE}: leave ${path} unset or false`,
    reason: "FieldValueForbidden",
  };
}
