// Whether a container sets resources at all: an empty block counts as none.
import type { V1ResourceRequirements } from "../../api/generated/kubernetes.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";

/** Whether a container's block has any request, limit or claim, and so counts as set. */
export function hasResources(
  container: { readonly resources?: DeepReadonly<V1ResourceRequirements> } | undefined,
): boolean {
  const { requests = {}, limits = {}, claims = [] } = container?.resources ?? {};
  return Object.keys(requests).length > 0 || Object.keys(limits).length > 0 || claims.length > 0;
}
