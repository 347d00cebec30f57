// The Lease object and the rules of acquiring, renewing and releasing it, as pure functions. Clocks of different
// machines are never compared: a lease has expired when the reader has observed it unchanged for its duration.
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

/** The part of a Lease that the election uses. */
export interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

/** The Lease kind, for reading who leads. */
export const leaseResource = defineResource<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
});

/** A lease as observed by one process. */
export interface LeaseObservation {
  readonly resourceVersion: string | undefined;
  /** Monotonic time at which this version was first observed. */
  readonly sinceMs: number;
}

/** Keeps the time of the first observation as long as the lease does not change. */
export function observeLease(before: LeaseObservation | undefined, lease: Lease, nowMs: number): LeaseObservation {
  const resourceVersion = lease.metadata?.resourceVersion;
  return before !== undefined && before.resourceVersion === resourceVersion
    ? before
    : { resourceVersion, sinceMs: nowMs };
}

/** The holder; undefined if the lease was released or never acquired. */
export function holderOf(lease: Lease): string | undefined {
  return lease.spec?.holderIdentity === "" ? undefined : lease.spec?.holderIdentity;
}

export interface Claim {
  readonly identity: string;
  readonly leaseMs: number;
  /** Wall clock, for the timestamps in the lease. */
  readonly nowMs: number;
}

/** True while another process may still act. The duration that the holder wrote counts. */
export function isHeldByOther(lease: Lease, claim: Claim, unchangedMs: number): boolean {
  const holder = holderOf(lease);
  if (holder === undefined || holder === claim.identity) return false;
  const promisedSeconds = lease.spec?.leaseDurationSeconds;
  return unchangedMs <= (promisedSeconds === undefined ? claim.leaseMs : promisedSeconds * 1000);
}

/** The spec of a lease that was never held. */
export function firstClaim(claim: Claim): LeaseSpec {
  return { ...held(claim), acquireTime: microTime(claim.nowMs), leaseTransitions: 0 };
}

/** The spec to write over an existing lease: a renewal if we hold it, a takeover otherwise. */
export function nextClaim(lease: Lease, claim: Claim): LeaseSpec {
  const { acquireTime, leaseTransitions = 0 } = lease.spec ?? {};
  if (holderOf(lease) === claim.identity && acquireTime !== undefined)
    return { ...lease.spec, ...held(claim), leaseTransitions };
  return { ...lease.spec, ...held(claim), acquireTime: microTime(claim.nowMs), leaseTransitions: leaseTransitions + 1 };
}

/** The spec of a released lease: no holder, so that another process may acquire it at once. */
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
