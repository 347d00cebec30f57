// The claim of the built-in PostgreSQL, from the cache. That a claim which was once seen is gone, or another one, stops a database, so it is
// confirmed by the API server itself: a claim that merely lost its label is still the catalogue, and a cache may lag behind.
import type { DeepReadonly } from "../../api/deep-readonly.ts";
import type { V1PersistentVolumeClaim } from "../../api/generated/kubernetes.ts";
import type { Instance } from "../children.ts";
import { claimName, type InstanceIdentity } from "../names.ts";
import type { ClaimView } from "../snapshot.ts";
import type { InstanceWorld } from "../world.ts";

export async function observeClaim(
  world: Pick<InstanceWorld, "claim" | "readClaim">,
  { spec, status }: Instance,
  { namespace, name }: InstanceIdentity,
): Promise<ClaimView | undefined> {
  if (spec.metadata.postgres !== undefined) return undefined;
  const key = { namespace, name: claimName(name) };
  const cached = world.claim(key);
  const remembered = status?.builtInPostgres?.claimUID;
  const isExpected = remembered === undefined || cached?.metadata?.uid === remembered;
  const found = isExpected ? cached : await world.readClaim(key);
  return found === undefined ? undefined : viewOf(found);
}

function viewOf({ metadata, spec }: DeepReadonly<V1PersistentVolumeClaim>): ClaimView {
  return {
    uid: metadata?.uid ?? "",
    isLeaving: metadata?.deletionTimestamp !== undefined,
    volumeName: spec?.volumeName,
    size: spec?.resources?.requests?.["storage"],
    storageClassName: spec?.storageClassName,
  };
}
