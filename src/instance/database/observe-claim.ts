// Observes the claim of the built-in PostgreSQL, from the cache. A known claim that is missing or replaced stops the
// database, and a claim without a volume that differs from the spec deletes its StatefulSet. Both are confirmed with
// the API server: a claim that merely lost its label still holds the catalogue, and a cache may lag behind. A claim
// that never had the label is found before a StatefulSet is created, and while one exists. An idle instance costs no
// request, or one per minute if its claim has no label.

import type { V1PersistentVolumeClaim } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { compareStored } from "../../api/values/quantity.ts";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import type { Instance } from "../model/children.ts";
import type { InstanceMemory } from "../model/memory.ts";
import { claimName, type InstanceIdentity, postgresName } from "../model/names.ts";
import { type ClaimView, childOf, type InstanceSnapshot } from "../model/snapshot.ts";
import { isOutdated } from "./storage.ts";

/** Changes of a claim without the label trigger no event. */
const TRUSTED_MS = 60_000;

export interface ClaimInput extends Pick<InstanceSnapshot, "instance" | "identity" | "children" | "nowMs"> {
  readonly memory: Pick<InstanceMemory, "claim">;
  /** Whether this pass creates what is missing. */
  readonly createsMissing: boolean;
}

export interface SeenClaim {
  readonly claim: ClaimView | undefined;
  /** Read from the API server in this pass. */
  readonly isConfirmed: boolean;
}

export async function observeClaim(
  cluster: Pick<InstanceCluster, "claim" | "readClaim">,
  input: ClaimInput,
): Promise<SeenClaim> {
  const { instance, identity } = input;
  if (instance.spec.metadata.postgres !== undefined) return { claim: undefined, isConfirmed: false };
  const cached = cluster.claim({ namespace: identity.namespace, name: claimName(identity.name) });
  const trusted = cached === undefined ? trustedClaim(input) : undefined;
  if (trusted !== undefined) return { claim: trusted, isConfirmed: false };
  if (!needsConfirmation(input, cached)) return { claim: cached && viewOf(cached), isConfirmed: false };
  const claim = await readClaimView(cluster, identity);
  noteRead(input, claim);
  return { claim, isConfirmed: true };
}

/** A claim with the label is in the cache, so the result of the read is not kept. */
function noteRead({ memory, instance, nowMs }: ClaimInput, claim: ClaimView | undefined): void {
  if (claim?.isLabelled === true) delete memory.claim;
  else memory.claim = { claim, generation: instance.metadata?.generation ?? 0, readMs: nowMs };
}

/** A recent result for a claim that is in no cache, for as long as it is the catalogue and has no problem. */
function trustedClaim(input: ClaimInput): ClaimView | undefined {
  const { claim } = input.memory.claim ?? {};
  const isCatalogue = claim !== undefined && claim.uid === input.instance.status?.builtInPostgres?.claimUID;
  return isCatalogue && claim.volumeName !== undefined && !claim.isTerminating && isFresh(input) ? claim : undefined;
}

function isFresh({ memory, instance, nowMs }: ClaimInput): boolean {
  const ageMs = nowMs - (memory.claim?.readMs ?? Number.NEGATIVE_INFINITY);
  return ageMs >= 0 && ageMs < TRUSTED_MS && memory.claim?.generation === (instance.metadata?.generation ?? 0);
}

export async function readClaimView(
  cluster: Pick<InstanceCluster, "readClaim">,
  { namespace, name }: InstanceIdentity,
): Promise<ClaimView | undefined> {
  const found = await cluster.readClaim({ namespace, name: claimName(name) });
  return found && viewOf(found);
}

type Cached = DeepReadonly<V1PersistentVolumeClaim> | undefined;

/** Whether something would be created, stopped or deleted because of what is in the cache. */
function needsConfirmation(input: ClaimInput, cached: Cached): boolean {
  const { spec, status } = input.instance;
  const remembered = status?.builtInPostgres?.claimUID;
  if (remembered !== undefined && cached?.metadata?.uid !== remembered) return true;
  if (cached?.spec?.volumeName !== undefined) return false;
  return isUnwanted(spec, cached) || isOutdated(input) || (cached === undefined && isMissed(input));
}

/** A new StatefulSet uses whatever claim has the name, and an existing one has created one. */
function isMissed(input: ClaimInput): boolean {
  const { children, identity, memory } = input;
  const { type } = childOf({ children }, "StatefulSet", postgresName(identity.name));
  if (type !== "live") return input.createsMissing;
  return !(isFresh(input) && memory.claim?.claim === undefined);
}

function isUnwanted({ metadata }: Instance["spec"], claim: Cached): boolean {
  if (claim === undefined) return false;
  const { storageClassName, size } = metadata.builtInPostgres?.storage ?? {};
  const isOtherClass = storageClassName !== undefined && storageClassName !== claim.spec?.storageClassName;
  const isSmaller = (compareStored(size, claim.spec?.resources?.requests?.["storage"]) ?? 0) < 0;
  return isOtherClass || isSmaller;
}

/** Set by Kubernetes when it binds a claim to its volume, and never removed. */
const BOUND = "pv.kubernetes.io/bind-completed";

function viewOf({ metadata, spec }: DeepReadonly<V1PersistentVolumeClaim>): ClaimView {
  return {
    uid: metadata?.uid ?? "",
    isTerminating: metadata?.deletionTimestamp !== undefined,
    isLabelled: metadata?.labels?.[LABEL.instance] !== undefined,
    volumeName: spec?.volumeName || undefined,
    wasBound: metadata?.annotations?.[BOUND] !== undefined,
    size: spec?.resources?.requests?.["storage"],
    storageClassName: spec?.storageClassName,
  };
}
