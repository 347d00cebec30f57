// A fingerprint of what the operator rendered, kept on the StatefulSet. A set that is unedited since its creation and
// whose fingerprint is that of the spec needs no comparison: whatever the API server (a disabled feature, an older
// version, a mutating webhook) made of it, creating it again would give the same, so that must never start a new
// generation.
import { isUntouchedRendering as isUntouched } from "@firebolt-operator/kube/reconcile";
import { jsonHash } from "../../podtemplate/content-hash.ts";
import { COMPARED_FIELDS, type StatefulSet } from "./compared-fields.ts";

export const RENDERED_HASH = "firebolt.io/rendered-hash";

/** Hash of all compared fields, in their normal form. */
export function renderedHash(statefulSet: StatefulSet): string {
  return jsonHash(
    COMPARED_FIELDS.flatMap(({ path, read, later }) => {
      const value = read(statefulSet) ?? null;
      if (later === undefined) return [value];
      return value === null ? [] : [[path, value]];
    }),
  );
}

/** Whether `live` is, untouched, what came of creating something that equals `wanted` in every compared field. */
export function isUntouchedRendering(live: StatefulSet, wanted: StatefulSet): boolean {
  return isUntouched(live, wanted, RENDERED_HASH);
}
