// The claim of the built-in PostgreSQL, from the cache. That a claim which was once seen is gone, or another one, stops a database, and so does
// one that has no volume and is not what the spec wants. Both are confirmed by the API server itself: a claim that merely lost its label is
// still the catalogue, and a cache may lag behind.
import type { DeepReadonly } from "../../api/deep-readonly.ts";
import type { V1PersistentVolumeClaim } from "../../api/generated/kubernetes.ts";
import { compareStored } from "../../api/quantity.ts";
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
  const found = isExpected && !isUnwanted(spec, cached) ? cached : await world.readClaim(key);
  return found === undefined ? undefined : viewOf(found);
}

function isUnwanted({ metadata }: Instance["spec"], claim: DeepReadonly<V1PersistentVolumeClaim> | undefined): boolean {
  if (claim === undefined || claim.spec?.volumeName !== undefined) return false;
  const { storageClassName, size } = metadata.builtInPostgres?.storage ?? {};
  const isOtherClass = storageClassName !== undefined && storageClassName !== claim.spec?.storageClassName;
  const isSmaller = (compareStored(size, claim.spec?.resources?.requests?.["storage"]) ?? 0) < 0;
  return isOtherClass || isSmaller;
}

/** Noted by whoever binds a claim to its volume, and never removed. */
const BOUND = "pv.kubernetes.io/bind-completed";

function viewOf({ metadata, spec }: DeepReadonly<V1PersistentVolumeClaim>): ClaimView {
  return {
    uid: metadata?.uid ?? "",
    isLeaving: metadata?.deletionTimestamp !== undefined,
    volumeName: spec?.volumeName || undefined,
    wasBound: metadata?.annotations?.[BOUND] !== undefined,
    size: spec?.resources?.requests?.["storage"],
    storageClassName: spec?.storageClassName,
  };
}
