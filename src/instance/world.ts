// The only way from the instance's reconciler to the outside. The cluster implements it (kube-world.ts), and so does the store of
// the unit tests, so that the real observe, compute and apply run in both. One write is one awaited call.
import type { DeepReadonly } from "../api/deep-readonly.ts";
import type { V1ConfigMap, V1PersistentVolumeClaim, V1Secret } from "../api/generated/kubernetes.ts";
import type { InstanceStatus } from "../api/instance-status.ts";
import type { Pod } from "../pods/pod-trouble.ts";
import type {
  ChildKind,
  ChildMetadata,
  ChildReference,
  ChildTypes,
  Instance,
  Rendered,
  RenderedKind,
  Secret,
} from "./children.ts";
import type { PostgresGuard, Removal } from "./decision.ts";

export interface InstanceKey {
  readonly namespace: string;
  readonly name: string;
}

/** Reads from caches that have seen the operator's own writes, but may lag behind everybody else's. */
export interface CachedReads {
  instance(key: InstanceKey): Instance | undefined;
  /** ConfigMaps hold digests in place of their texts; objects without the instance label are not seen. */
  child<K extends RenderedKind>(kind: K, key: InstanceKey): DeepReadonly<ChildTypes[K]> | undefined;
  /** Names of the engines of the namespace that name the instance, as far as the watch selector shows them. */
  engines(instance: InstanceKey): readonly string[];
  claim(key: InstanceKey): DeepReadonly<V1PersistentVolumeClaim> | undefined;
  /** Of a Secret with the instance's label: contents are neither watched nor kept. */
  secretMetadata(key: InstanceKey): ChildMetadata | undefined;
}

/** Reads from the API server itself: what is not cached, and absences that decide something. They reject without an answer. */
export interface DirectReads {
  readInstance(key: InstanceKey): Promise<Instance | undefined>;
  /** Unlike a cache it also sees what does not carry the instance's label. */
  readChild(kind: RenderedKind, key: InstanceKey): Promise<ChildReference | undefined>;
  /** With its texts. */
  readConfigMap(key: InstanceKey): Promise<DeepReadonly<V1ConfigMap> | undefined>;
  readSecret(key: InstanceKey): Promise<Secret | undefined>;
  /** Of all components. */
  listPods(instance: InstanceKey): Promise<readonly Pod[]>;
  listEngines(instance: InstanceKey): Promise<readonly string[]>;
  /** Texts of the warnings about an object, the newest last. */
  listWarnings(namespace: string, uid: string): Promise<readonly string[]>;
  readClaim(key: InstanceKey): Promise<DeepReadonly<V1PersistentVolumeClaim> | undefined>;
  /** Everything of this kind that carries the instance's label, whoever owns it. */
  listLabelled(kind: ChildKind, instance: InstanceKey): Promise<readonly ChildReference[]>;
}

/** Every write rejects when the API server refuses it for a reason that the answer type does not name. */
export interface Writes {
  /** Bound to the instance's resourceVersion, as are the next two; rejects on a conflict. */
  addFinalizer(instance: Instance): Promise<void>;
  removeFinalizer(instance: Instance): Promise<void>;
  writeId(instance: Instance, id: string): Promise<void>;
  /** Never changes a Secret that is already there. */
  createSecret(secret: V1Secret): Promise<"created" | "exists">;
  /** Takes one owner away, and no other. Conflict: another Secret has the name by now, or none. */
  releaseSecret(key: InstanceKey, release: SecretRelease): Promise<"patched" | "conflict">;
  /** Rejects where the storage class does not allow it. Conflict: another claim has the name by now, or none. */
  growClaim(key: InstanceKey, uid: string, size: string | number): Promise<"patched" | "conflict">;
  /** Conflict: another StatefulSet has the name by now, or none. */
  guardPostgres(key: InstanceKey, uid: string, guard: PostgresGuard): Promise<"patched" | "conflict">;
  /** Never changes an object that already has the name. Exists: it does, whoever it belongs to. */
  create(object: Rendered): Promise<"created" | "exists">;
  /**
   * Makes an object of the instance's own what is rendered: takes fields over from other managers, and removes what an earlier
   * rendering had and this one has not. Conflict: the object changed meanwhile, or another one has the name by now.
   */
  update(object: Rendered, uid: string): Promise<Update>;
  /** Asks whether the object would be stored, and stores nothing. Rejects with the refusal. */
  rehearse(object: Rendered): Promise<void>;
  /** Puts whole lists back where an apply, which merges them, is refused because of what others put in. */
  overwrite(object: Rendered, uid: string): Promise<void>;
  /** Gone already counts as accepted. Conflict: another object has the name by now. */
  remove(namespace: string, removal: Removal): Promise<"accepted" | "conflict">;
  /** Stores the status over the one in `instance`, if that is still the stored version. */
  writeStatus(instance: Instance, status: InstanceStatus): Promise<StatusWriteAnswer>;
}

/** `editor` is the field manager that wrote to the object last, besides the operator. */
export type Update = { readonly type: "updated"; readonly editor?: string | undefined } | { readonly type: "conflict" };

export interface SecretRelease {
  readonly uid: string;
  /** The uid of the owner that is taken away. */
  readonly owner: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export type StatusWriteAnswer =
  | { readonly type: "written"; readonly instance: Instance }
  | { readonly type: "conflict" }
  | { readonly type: "gone" };

export interface InstanceWorld extends CachedReads, DirectReads, Writes {
  /** Fires when the process stops. */
  readonly signal: AbortSignal;
}
