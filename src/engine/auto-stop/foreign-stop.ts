// When another client than auto-stop set the replicas to zero, as far as the API server knows. Pure; the clock is an
// argument.

import type { V1ObjectMeta } from "../../api/generated/kubernetes.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { isObject } from "../../podtemplate/shapes/shape.ts";
import { parseRfc3339 } from "./wake-stamp.ts";

/** A stop happened before it is seen; a request that follows it at once must not count as older. */
const SEEN_WITHIN_MS = 1_000;

/** The time that requests must be newer than. `setMs`: when the replicas were set, if that is known. */
export function foreignStopMs(nowMs: number, setMs: number | undefined): number {
  return Math.min(nowMs, setMs ?? nowMs) - SEEN_WITHIN_MS;
}

/**
 * When `spec.replicas` got its value, by the clock of the API server. All managers of a field agree on its value, so
 * the first of them set it. An entry also counts later changes of the same manager: the result is never too early.
 */
export function replicasSetMs(metadata: DeepReadonly<V1ObjectMeta> | undefined): number | undefined {
  const times = (metadata?.managedFields ?? []).flatMap(({ fieldsV1, subresource, time }) => {
    const owns = subresource !== "status" && ownsReplicas(fieldsV1);
    return owns && time !== undefined ? (parseRfc3339(time) ?? []) : [];
  });
  return times.length === 0 ? undefined : Math.min(...times);
}

function ownsReplicas(fields: unknown): boolean {
  const spec = isObject(fields) ? fields["f:spec"] : undefined;
  return isObject(spec) && "f:replicas" in spec;
}
