// Reads everything that one decision depends on: children from caches, the Secret of the database only when it is
// needed. Writes nothing and decides nothing.
import type { Logger } from "@firebolt-operator/kube";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import { needsCredentials } from "../compute/compute-instance.ts";
import { observeClaim } from "../database/observe-claim.ts";
import { isOutdated } from "../database/storage.ts";
import { renderedNames } from "../model/child-kinds.ts";
import type { Child, Instance, LiveObject } from "../model/children.ts";
import { identityOf, viewChild } from "../model/children.ts";
import { RECHECK_MS } from "../model/decision.ts";
import type { InstanceMemory } from "../model/memory.ts";
import { credentialsSecretName, gatewayName, postgresName } from "../model/names.ts";
import { type ChildKey, childKey, type InstanceSnapshot, type RejectedGrowth } from "../model/snapshot.ts";
import { observeTroubles } from "../pods/observe-troubles.ts";
import type { RenderSettings } from "../render/instance-objects.ts";
import { observeCredentials } from "./observe-credentials.ts";

export interface ObserveOptions {
  readonly settings: RenderSettings;
  readonly memory: InstanceMemory;
  readonly nowMs: number;
  readonly heldBy?: readonly string[] | undefined;
  readonly lostId?: string | undefined;
  readonly logger: Logger;
}

export async function observeInstance(
  cluster: InstanceCluster,
  instance: Instance,
  { settings, memory, nowMs, heldBy = [], lostId, logger }: ObserveOptions,
): Promise<InstanceSnapshot> {
  const identity = identityOf(instance);
  const { namespace, uid } = identity;
  const children = new Map<ChildKey, Child<LiveObject>>(
    renderedNames(identity.name).map(([kind, name]) => [
      childKey(kind, name),
      viewChild(cluster.child(kind, { namespace, name }), uid),
    ]),
  );
  await confirmAccount(cluster, instance, children);
  for (const [key, child] of children) if (child.type === "live") memory.seen.add(key);
  const isMade = children.get(childKey("StatefulSet", postgresName(identity.name)))?.type === "live";
  if (isMade && !isOutdated({ instance, identity, children })) delete memory.remadeFor;
  const phase = instance.status?.phase;
  const needed = needsCredentials({ phase, instance });
  const seen = await observeClaim(cluster, { instance, identity, children, memory, nowMs, createsMissing: needed });
  const { claim } = seen;
  const credentials = needed
    ? await observeCredentials(cluster, { instance, identity, children, memory, nowMs, seen })
    : ({ type: "usable" } as const);
  const secret = cluster.secretMetadata({ namespace, name: credentialsSecretName(identity.name) });
  const troubles = needed
    ? await observeTroubles(cluster, { children, identity, phase, nowMs, memory, logger, claim })
    : {};
  return {
    nowMs,
    troubles,
    heldBy,
    lostId,
    rejections: memory.rejections,
    instance,
    identity,
    phase,
    settings,
    credentials,
    claim,
    isClaimConfirmed: seen.isConfirmed,
    rejectedGrowth: rejectedGrowth(memory, nowMs),
    remadeFor: memory.remadeFor,
    secret,
    children,
    seen: memory.seen,
    outcomes: memory.outcomes,
  };
}

function rejectedGrowth({ growth }: InstanceMemory, nowMs: number): RejectedGrowth | undefined {
  const ageMs = nowMs - (growth?.rejectedMs ?? 0);
  return ageMs >= 0 && ageMs < RECHECK_MS.growth ? growth : undefined;
}

/**
 * A replaced account rolls every gateway, so the absence of the known one is confirmed with the API server: a cache may
 * lag behind.
 */
async function confirmAccount(
  cluster: InstanceCluster,
  instance: Instance,
  children: Map<ChildKey, Child<LiveObject>>,
): Promise<void> {
  const { namespace, name, uid } = identityOf(instance);
  const key = childKey("ServiceAccount", gatewayName(name));
  const [known, cached] = [instance.status?.gatewayAccount?.uid, children.get(key)];
  if (known === undefined || cached?.type !== "live" || cached.object.metadata?.uid === known) return;
  const found = await cluster.readChild("ServiceAccount", { namespace, name: gatewayName(name) });
  children.set(key, viewChild(found && { ...cached.object, metadata: found.metadata }, uid));
}
