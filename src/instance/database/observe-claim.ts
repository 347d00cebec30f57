// The claim of the built-in PostgreSQL, from the cache. That a claim which was once seen is gone, or another one, stops a database, and that one
// has no volume and is not what the spec wants deletes its StatefulSet. Both are confirmed by the API server itself: a claim that merely lost its
// label is still the catalogue, and a cache may lag behind.
import type { DeepReadonly } from "../../api/deep-readonly.ts";
import type { V1PersistentVolumeClaim } from "../../api/generated/kubernetes.ts";
import { compareStored } from "../../api/quantity.ts";
import type { Instance } from "../children.ts";
import { claimName, type InstanceIdentity } from "../names.ts";
import type { ClaimView, InstanceSnapshot } from "../snapshot.ts";
import type { InstanceWorld } from "../world.ts";
import { isOutdated } from "./storage.ts";

export interface ClaimQuestion extends Pick<InstanceSnapshot, "instance" | "identity" | "children"> {}

export interface SeenClaim {
  readonly claim: ClaimView | undefined;
  /** Read from the API server in this pass. */
  readonly isConfirmed: boolean;
}

export async function observeClaim(
  world: Pick<InstanceWorld, "claim" | "readClaim">,
  question: ClaimQuestion,
): Promise<SeenClaim> {
  const { instance, identity } = question;
  if (instance.spec.metadata.postgres !== undefined) return { claim: undefined, isConfirmed: false };
  const cached = world.claim({ namespace: identity.namespace, name: claimName(identity.name) });
  if (isInQuestion(question, cached)) return { claim: await readClaimView(world, identity), isConfirmed: true };
  return { claim: cached && viewOf(cached), isConfirmed: false };
}

export async function readClaimView(
  world: Pick<InstanceWorld, "readClaim">,
  { namespace, name }: InstanceIdentity,
): Promise<ClaimView | undefined> {
  const found = await world.readClaim({ namespace, name: claimName(name) });
  return found && viewOf(found);
}

type Cached = DeepReadonly<V1PersistentVolumeClaim> | undefined;

/** Whether something would be stopped or deleted because of what the cache shows. */
function isInQuestion(question: ClaimQuestion, cached: Cached): boolean {
  const { spec, status } = question.instance;
  const remembered = status?.builtInPostgres?.claimUID;
  if (remembered !== undefined && cached?.metadata?.uid !== remembered) return true;
  return cached?.spec?.volumeName === undefined && (isUnwanted(spec, cached) || isOutdated(question));
}

function isUnwanted({ metadata }: Instance["spec"], claim: Cached): boolean {
  if (claim === undefined) return false;
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
