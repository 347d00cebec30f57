// Leader election with a Lease, and the fence in front of every write.
export { createLeaderElector, type LeaderElector, type LeaderElectorOptions } from "./leader-election.ts";
export { holderOf, type Lease, type LeaseSpec, leaseResource } from "./lease.ts";
export { type LeaseStore, leaseStore } from "./lease-store.ts";
export { DEFAULT_ELECTION_TIMING, type ElectionTiming, validateElectionTiming } from "./timing.ts";
