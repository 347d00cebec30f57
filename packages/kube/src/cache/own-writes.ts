// Read-your-writes: a write that the API server accepted from this process is merged into the store at once, so that
// the next read sees it without a request. Merges only what the watch would deliver, and only when it is ahead of the
// watch.
import type { AcceptedWrite } from "../client/client.ts";
import { type LabelSelector, matchesLabels } from "../core/label-selector.ts";
import type { KubeObject } from "../core/object.ts";
import { apiVersionOf, type ResourceType } from "../core/resource.ts";
import { isNotNewer } from "../core/resource-version.ts";
import type { ObjectStore } from "./object-store.ts";
import type { StoreScope } from "./store-scope.ts";
import { copyJson, type Shaper } from "./stored-object.ts";

export interface OwnWritesOptions<T extends KubeObject> {
  readonly type: ResourceType<T>;
  readonly store: ObjectStore<T>;
  readonly shape: Shaper<T>;
  /** The scope that watches a namespace; undefined if the cache does not cover it. */
  readonly scopeOf: (namespace: string) => StoreScope<T> | undefined;
  readonly labelSelector: LabelSelector;
  /** Only the server can evaluate a field selector: only objects that it has already selected are merged. */
  readonly hasFieldSelector: boolean;
}

export function mergeWrite<T extends KubeObject>(write: AcceptedWrite, options: OwnWritesOptions<T>): void {
  const { type } = options;
  if (write.resource.group !== type.group || write.resource.plural !== type.plural) return;
  switch (write.type) {
    case "written":
      if (isOfType(write.object, type)) mergeWritten(write.object, options);
      return;
    case "gone":
      mergeGone(write, options);
      return;
  }
}

function mergeWritten<T extends KubeObject>(written: T, options: OwnWritesOptions<T>): void {
  const { store } = options;
  const { tombstones } = store;
  const { namespace = "", name = "", uid = "", resourceVersion: version = "", labels } = written.metadata ?? {};
  const scope = options.scopeOf(namespace);
  if (scope === undefined) return;
  // The watch is already past this version, and what it delivered since (perhaps a deletion) is newer.
  if (scope.position !== undefined && isNotNewer(version, scope.position)) return;
  if (tombstones.hides(uid, version)) return;
  const stored = store.get({ namespace, name });
  if (stored !== undefined && isNotNewer(version, stored.version)) return;
  // Another object has the name now: the old one is deleted, and late events must not restore it.
  if (stored !== undefined && stored.uid !== uid) tombstones.mark(scope, stored.uid);
  if (!matchesLabels(options.labelSelector, labels)) {
    tombstones.mark(scope, uid, version);
    if (stored !== undefined) store.change("write", (batch) => batch.remove(stored));
    return;
  }
  if (options.hasFieldSelector && stored?.uid !== uid) return;
  // The caller keeps the object that its call returned, so the store needs a copy. Copied last: most caches ignore the
  // write.
  const entry = options.shape(copyOf(written));
  scope.expectEcho(version);
  store.change("write", (batch) => batch.put(entry));
}

function mergeGone<T extends KubeObject>(
  gone: Extract<AcceptedWrite, { readonly type: "gone" }>,
  { store, scopeOf }: OwnWritesOptions<T>,
): void {
  const { key, uid } = gone;
  const scope = scopeOf(key.namespace ?? "");
  // Without the uid, the deleted object cannot be distinguished from one that another process has since created under
  // the name. Hiding that one would be worse than showing the old one until the watch delivers the deletion.
  if (scope === undefined || uid === undefined) return;
  store.tombstones.mark(scope, uid);
  const stored = store.get(key);
  if (stored?.uid === uid) store.change("write", (batch) => batch.remove(stored));
}

/**
 * Subresources return other kinds (Scale, Eviction), other versions have other fields: neither belongs in the store.
 */
function isOfType<T extends KubeObject>(object: KubeObject, type: ResourceType<T>): object is T {
  return object.kind === type.kind && object.apiVersion === apiVersionOf(type);
}

/** Without managedFields, which no cache keeps and which are often the larger part. */
function copyOf<T extends KubeObject>({ metadata, ...rest }: T): T {
  const { managedFields: _, ...kept } = metadata ?? {};
  return copyJson({ ...rest, metadata: kept }) as T;
}
