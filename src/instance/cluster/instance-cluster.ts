// The only access of the instance's reconciler to the cluster. Implemented by kube-cluster.ts, and by the fake of the
// unit tests, so that the real observe, compute and apply run on both. One write is one awaited call.

import type { InstanceStatus } from "../../api/firebolt-instance/status.ts";
import type { V1ConfigMap, V1PersistentVolumeClaim, V1Secret } from "../../api/generated/kubernetes.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import type { Pod } from "../../pods/pod-trouble.ts";
import type {
  ChildKind,
  ChildMetadata,
  ChildReference,
  ChildTypes,
  Instance,
  Rendered,
  RenderedKind,
  Secret,
} from "../model/children.ts";
import type { PostgresGuard, Removal } from "../model/decision.ts";

export interface InstanceKey {
  readonly namespace: string;
  readonly name: string;
}

/** Reads from caches that contain the operator's own writes, but may lag behind those of others. */
export interface CachedReads {
  instance(key: InstanceKey): Instance | undefined;
  /** ConfigMaps hold digests in place of their values; objects without the instance label are not found. */
  child<K extends RenderedKind>(kind: K, key: InstanceKey): DeepReadonly<ChildTypes[K]> | undefined;
  /** Names of the engines in the namespace that refer to the instance, as far as the watch selector selects them. */
  engines(instance: InstanceKey): readonly string[];
  claim(key: InstanceKey): DeepReadonly<V1PersistentVolumeClaim> | undefined;
  /** Of a Secret with the instance's label: contents are neither watched nor cached. */
  secretMetadata(key: InstanceKey): ChildMetadata | undefined;
}

/**
 * Reads from the API server: what is not cached, and absences that decide something. They reject without a response.
 */
export interface DirectReads {
  readInstance(key: InstanceKey): Promise<Instance | undefined>;
  /** Unlike a cache, it also finds objects without the instance's label. */
  readChild(kind: RenderedKind, key: InstanceKey): Promise<ChildReference | undefined>;
  /** With its values. */
  readConfigMap(key: InstanceKey): Promise<DeepReadonly<V1ConfigMap> | undefined>;
  readSecret(key: InstanceKey): Promise<Secret | undefined>;
  /** Of all components. */
  listPods(instance: InstanceKey): Promise<readonly Pod[]>;
  listEngines(instance: InstanceKey): Promise<readonly string[]>;
  /** Messages of the warnings about an object, the newest last. */
  listWarnings(namespace: string, uid: string): Promise<readonly string[]>;
  readClaim(key: InstanceKey): Promise<DeepReadonly<V1PersistentVolumeClaim> | undefined>;
  /** All objects of this kind with the instance's label, regardless of their owner. */
  listLabelled(kind: ChildKind, instance: InstanceKey): Promise<readonly ChildReference[]>;
}

/** Every write rejects when the API server rejects it for a reason that the result type does not name. */
export interface Writes {
  /** Bound to the instance's resourceVersion, as are the next two; rejects on a conflict. */
  addFinalizer(instance: Instance): Promise<void>;
  removeFinalizer(instance: Instance): Promise<void>;
  writeId(instance: Instance, id: string): Promise<void>;
  /** Never changes an existing Secret. */
  createSecret(secret: V1Secret): Promise<"created" | "exists">;
  /** Removes one owner, and no other. Conflict: the Secret was deleted or replaced. */
  releaseSecret(key: InstanceKey, release: SecretRelease): Promise<"patched" | "conflict">;
  /** Rejects where the storage class does not allow it. Conflict: the claim was deleted or replaced. */
  growClaim(key: InstanceKey, uid: string, size: string | number): Promise<"patched" | "conflict">;
  /** Conflict: the StatefulSet was deleted or replaced. */
  guardPostgres(key: InstanceKey, uid: string, guard: PostgresGuard): Promise<"patched" | "conflict">;
  /** Never changes an existing object. Exists: there is one, regardless of its owner. */
  create(object: Rendered): Promise<"created" | "exists">;
  /**
   * Makes an object of the instance equal to the rendering: takes fields over from other managers, and removes fields
   * that only an earlier rendering had. Conflict: the object was changed, deleted or replaced meanwhile.
   */
  update(object: Rendered, uid: string): Promise<Update>;
  /** A dry run: whether the object would be stored. Rejects with the rejection. */
  rehearse(object: Rendered): Promise<void>;
  /** Replaces whole lists where an apply, which merges them, is rejected because of entries of others. */
  overwrite(object: Rendered, uid: string): Promise<void>;
  /** An object that is already deleted counts as accepted. Conflict: the object was replaced. */
  remove(namespace: string, removal: Removal): Promise<"accepted" | "conflict">;
  /** Stores the status if `instance` is still the stored version. */
  writeStatus(instance: Instance, status: InstanceStatus): Promise<StatusWriteResult>;
}

/** `editor` is the field manager that last wrote to the object, besides the operator. */
export type Update = { readonly type: "updated"; readonly editor?: string | undefined } | { readonly type: "conflict" };

export interface SecretRelease {
  readonly uid: string;
  /** The uid of the owner that is removed. */
  readonly owner: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export type StatusWriteResult =
  | { readonly type: "written"; readonly instance: Instance }
  | { readonly type: "conflict" }
  | { readonly type: "gone" };

export interface InstanceCluster extends CachedReads, DirectReads, Writes {
  /** Fires when the process shuts down. */
  readonly signal: AbortSignal;
}
