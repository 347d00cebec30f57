// The Lease object and the rules of taking, keeping and giving it up, as pure functions. Whose clock is right is never asked:
// whether a lease has run out is judged by how long the reader has seen it unchanged.
import { microTime } from "../core/micro-time.ts";
import type { KubeObject } from "../core/object.ts";
import { defineResource } from "../core/resource.ts";

/** Who holds a Lease, since when, and for how long. */
export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

/** As much of a Lease as the election uses. */
export interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

/** The kind of leases, for reading who leads. */
export const leaseResource = defineResource<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
});

/** A lease as one process has seen it. */
export interface Sighting {
  readonly resourceVersion: string | undefined;
  /** Monotonic time at which this version was first seen. */
  readonly sinceMs: number;
}

/** Keeps the time of the first sighting as long as the lease does not change. */
export function sight(before: Sighting | undefined, lease: Lease, nowMs: number): Sighting {
  const resourceVersion = lease.metadata?.resourceVersion;
  return before !== undefined && before.resourceVersion === resourceVersion
    ? before
    : { resourceVersion, sinceMs: nowMs };
}

/** The holder, or undefined when the lease was released or never taken. */
export function holderOf(lease: Lease): string | undefined {
  return lease.spec?.holderIdentity === "" ? undefined : lease.spec?.holderIdentity;
}

export interface Claim {
  readonly identity: string;
  readonly leaseMs: number;
  /** Wall clock, for the timestamps people read. */
  readonly nowMs: number;
}

/** True while somebody else may still be at work. The holder's own promise of duration counts. */
export function isHeldByOther(lease: Lease, claim: Claim, unchangedMs: number): boolean {
  const holder = holderOf(lease);
  if (holder === undefined || holder === claim.identity) return false;
  const promisedSeconds = lease.spec?.leaseDurationSeconds;
  return unchangedMs <= (promisedSeconds === undefined ? claim.leaseMs : promisedSeconds * 1000);
}

/** The spec of a lease that nobody has held before. */
export function firstClaim(claim: Claim): LeaseSpec {
  return { ...held(claim), acquireTime: microTime(claim.nowMs), leaseTransitions: 0 };
}

/** The spec to write over an existing lease: a renewal when we hold it, a takeover otherwise. */
export function nextClaim(lease: Lease, claim: Claim): LeaseSpec {
  const { acquireTime, leaseTransitions = 0 } = lease.spec ?? {};
  if (holderOf(lease) === claim.identity && acquireTime !== undefined)
    return { ...lease.spec, ...held(claim), leaseTransitions };
  return { ...lease.spec, ...held(claim), acquireTime: microTime(claim.nowMs), leaseTransitions: leaseTransitions + 1 };
}

/** The spec of a lease that its holder gives up: no holder, so anyone may take it at once. */
export function releasedSpec(lease: Lease, nowMs: number): LeaseSpec {
  const { holderIdentity: _, ...rest } = lease.spec ?? {};
  return { ...rest, leaseDurationSeconds: 1, renewTime: microTime(nowMs), acquireTime: microTime(nowMs) };
}

function held({ identity, leaseMs, nowMs }: Claim): LeaseSpec {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseMs / 1000),
    renewTime: microTime(nowMs),
  };
}
