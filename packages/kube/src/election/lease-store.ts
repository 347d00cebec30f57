// One Lease in the API server: read, created, and replaced only if it has not changed since it was read.
import type { CallOptions, KubeClient } from "../client/client.ts";
import type { ObjectKey } from "../core/object.ts";
import { type Lease, type LeaseSpec, leaseResource } from "./lease.ts";

/** One Lease in the API server: read, created, and replaced only if it has not changed since it was read. */
export interface LeaseStore {
  readonly key: ObjectKey;
  read(call: CallOptions): Promise<Lease | undefined>;
  /** Fails with AlreadyExists if another process was first. */
  create(spec: LeaseSpec, call: CallOptions): Promise<Lease>;
  /** Fails with Conflict if the lease is no longer the given version. */
  replace(lease: Lease, call: CallOptions): Promise<Lease>;
}

/**
 * Give the elector a client of its own, so that renewals never queue behind other calls. It must not carry the fence.
 */
export function leaseStore(client: KubeClient, key: ObjectKey): LeaseStore {
  return {
    key,
    read: (call) => client.find(leaseResource, key, call),
    create(spec, call) {
      const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { ...key }, spec };
      return client.create(leaseResource, lease, call);
    },
    replace: (lease, call) => client.replace(leaseResource, lease, call),
  };
}
