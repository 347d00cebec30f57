// InstanceCluster over the API: cached reads from the caches, one request for everything else. It knows how
// objects are written (fields, preconditions, propagation) and not why.
import {
  changedFields,
  isAlreadyExists,
  isConflict,
  isFieldConflict,
  isNotFound,
  type KubeObject,
  type Logger,
  type ResourceType,
} from "@firebolt-operator/kube";
import type { ObjectCache } from "@firebolt-operator/kube/cache";
import type { KubeClient, Patch } from "@firebolt-operator/kube/client";
import type { PrunedStatus } from "@firebolt-operator/kube/reconcile";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { CoreV1Event } from "../../api/generated/kubernetes.ts";
import { FIELD_MANAGER } from "../../api/group.ts";
import { LABEL } from "../../api/labels.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { isObject } from "../../podtemplate/shapes/shape.ts";
import {
  type ChildKind,
  type ChildTypes,
  type Instance,
  identityOf,
  type Rendered,
  type RenderedKind,
} from "../model/children.ts";
import { renderPostgresGuard } from "../render/postgres.ts";
import type { InstanceCaches } from "./instance-caches.ts";
import type {
  CachedReads,
  DirectReads,
  InstanceCluster,
  InstanceKey,
  StatusWriteResult,
  Writes,
} from "./instance-cluster.ts";
import { CORE_EVENTS, KINDS, PODS } from "./kinds.ts";
import { claimCreatedFields } from "./own-fields.ts";

const OLD_CRD = "the CRD of FireboltInstance is older than the operator: upgrade the CRDs";
/** Events are kept for an hour, and repeated ones are counted in one. */
const WARNING_LIMIT = 20;

export interface KubeClusterOptions {
  readonly client: KubeClient;
  readonly caches: InstanceCaches;
  readonly signal: AbortSignal;
  /** Lives as long as the process: status fields that an older CRD does not keep. */
  readonly pruned: PrunedStatus;
  readonly logger: Logger;
}

/** One cluster per pass: its signal aborts every call of the pass. */
export function kubeInstanceCluster(options: KubeClusterOptions): InstanceCluster {
  return { signal: options.signal, ...cachedReads(options), ...directReads(options), ...writes(options) };
}

function cachedReads({ caches, pruned }: KubeClusterOptions): CachedReads {
  return {
    instance: (key) => {
      const found = caches.instances.get(key);
      return found === undefined ? undefined : pruned.restore(found);
    },
    child: <K extends RenderedKind>(kind: K, key: InstanceKey) => cacheOf(caches, kind)?.get(key),
    engines: ({ namespace, name }) => namesOf(caches.engines.list(namespace), name),
    claim: (key) => caches.children.PersistentVolumeClaim?.get(key),
    secretMetadata: (key) => caches.children.Secret?.get(key)?.metadata,
  };
}

function namesOf(engines: readonly DeepReadonly<FireboltEngine>[], instance: string): readonly string[] {
  return engines
    .filter(({ spec }) => spec?.instanceRef === instance)
    .flatMap(({ metadata }) => (metadata?.name === undefined ? [] : [metadata.name]));
}

function cacheOf<K extends RenderedKind>(
  { children }: InstanceCaches,
  kind: K,
): ObjectCache<ChildTypes[K]> | undefined {
  const all: { readonly [P in RenderedKind]?: ObjectCache<ChildTypes[P]> } = children;
  return all[kind];
}

function directReads({ client, signal, pruned }: KubeClusterOptions): DirectReads {
  const call = { signal };
  return {
    async readInstance(key) {
      const found = await client.find(FireboltInstance, keyOnly(key), call);
      return found === undefined ? undefined : pruned.restore(found);
    },
    async readChild(kind, key) {
      const found = await client.find(typeOf(kind), keyOnly(key), call);
      return found?.metadata === undefined ? undefined : { kind, metadata: found.metadata };
    },
    readConfigMap: (key) => client.find(KINDS.ConfigMap, keyOnly(key), call),
    readSecret: (key) => client.find(KINDS.Secret, keyOnly(key), call),
    async listPods({ namespace, name }) {
      const labelSelector = `${LABEL.instance}=${name},${LABEL.component}`;
      return (await client.listAll(PODS, { ...call, namespace, labelSelector })).items;
    },
    async listEngines({ namespace, name }) {
      const { items } = await client.listAll(FireboltEngine, { ...call, namespace });
      return namesOf(items, name);
    },
    async listWarnings(namespace, uid) {
      const fieldSelector = `involvedObject.uid=${uid},type=Warning`;
      const { items } = await client.list(CORE_EVENTS, { ...call, namespace, fieldSelector, limit: WARNING_LIMIT });
      const seen = ({ lastTimestamp, eventTime, metadata }: CoreV1Event) =>
        Date.parse(lastTimestamp || eventTime || metadata.creationTimestamp || "") || 0;
      return items.toSorted((a, b) => seen(a) - seen(b)).map(({ message }) => message ?? "");
    },
    readClaim: (key) => client.find(KINDS.PersistentVolumeClaim, keyOnly(key), call),
    async listLabelled(kind, { namespace, name }) {
      const { items } = await client.listAll(typeOf(kind), {
        ...call,
        namespace,
        labelSelector: `${LABEL.instance}=${name}`,
      });
      return items.flatMap(({ metadata }) => (metadata === undefined ? [] : [{ kind, metadata }]));
    },
  };
}

function writes({ client, signal, pruned, logger }: KubeClusterOptions): Writes {
  const write = { signal, fieldManager: FIELD_MANAGER };
  const patch = async (instance: Instance, metadata: object, rest: object = {}): Promise<void> => {
    const { resourceVersion } = instance.metadata ?? {};
    const body = { metadata: { resourceVersion, ...metadata }, ...rest };
    await client.patch(FireboltInstance, keyOnly(identityOf(instance)), { type: "merge", body }, write);
  };
  const createOnly = async <T extends KubeObject>(type: ResourceType<T>, object: T): Promise<"created" | "exists"> => {
    try {
      await client.create(type, object, write);
      return "created";
    } catch (error) {
      if (isAlreadyExists(error)) return "exists";
      throw error;
    }
  };
  const patchOwn = async (type: ResourceType<KubeObject>, key: InstanceKey, change: Patch) => {
    try {
      await client.patch(type, keyOnly(key), change, write);
      return "patched" as const;
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return "conflict" as const;
      throw error;
    }
  };
  const finalizersOf = ({ metadata }: Instance) => metadata?.finalizers ?? [];
  const own = FireboltInstance.finalizer;
  return {
    // A merge patch replaces the whole list, so it must be the list that was read: the resourceVersion ensures that.
    addFinalizer: (instance) => patch(instance, { finalizers: [...finalizersOf(instance), own] }),
    removeFinalizer: (instance) =>
      patch(instance, { finalizers: finalizersOf(instance).filter((finalizer) => finalizer !== own) }),
    writeId: (instance, id) => patch(instance, {}, { spec: { id } }),
    createSecret: (secret) => createOnly(KINDS.Secret, secret),
    // Strategic: a merge patch would replace the list, and with it owners that others added.
    releaseSecret: (key, { uid, owner, annotations }) =>
      patchOwn(typeOf("Secret"), key, {
        type: "strategic",
        body: { metadata: { uid, annotations, ownerReferences: [{ $patch: "delete", uid: owner }] } },
      }),
    growClaim: (key, uid, size) =>
      patchOwn(typeOf("PersistentVolumeClaim"), key, {
        type: "merge",
        body: { metadata: { uid }, spec: { resources: { requests: { storage: size } } } },
      }),
    guardPostgres: (key, uid, guard) => {
      const { metadata, ...rest } = renderPostgresGuard(guard);
      return patchOwn(typeOf("StatefulSet"), key, {
        type: "merge",
        body: { metadata: { ...metadata, uid }, ...rest },
      });
    },
    create: (object) => createOnly(typeOf(object.kind), asKubeObject(object)),
    async update(object, uid) {
      const type = typeOf(object.kind);
      // Without the uid an apply would merge into whatever object has the name now, or create one.
      const bound = { ...asKubeObject(object), metadata: { ...object.metadata, uid } };
      try {
        const editor = await claimCreatedFields(client, type, bound.metadata, write);
        await client.apply(type, bound, { ...write, force: true });
        return { type: "updated", editor };
      } catch (error) {
        if (isNotFound(error) || (isConflict(error) && !isFieldConflict(error))) return { type: "conflict" };
        throw error;
      }
    },
    async rehearse(object) {
      // Under another name: the final one is still taken.
      const { metadata } = object;
      const rehearsed = { ...asKubeObject(object), metadata: { ...metadata, name: `${metadata.name}-rehearsal` } };
      await client.create(typeOf(object.kind), rehearsed, { ...write, dryRun: true });
    },
    async overwrite(object, uid) {
      const { apiVersion: _, kind, metadata, ...content } = object;
      const { name, namespace, labels, annotations } = metadata;
      const body = { metadata: { uid, labels, annotations }, ...withoutRollingUpdate(content) };
      await client.patch(typeOf(kind), { namespace, name }, { type: "merge", body }, write);
    },
    async remove(namespace, { kind, name, uid }) {
      try {
        await client.delete(typeOf(kind), { namespace, name }, { signal, uid, propagation: "Background" });
        return "accepted";
      } catch (error) {
        if (isNotFound(error)) return "accepted";
        if (isConflict(error)) return "conflict";
        throw error;
      }
    },
    async writeStatus(instance, status): Promise<StatusWriteResult> {
      const { resourceVersion } = instance.metadata ?? {};
      const body = { metadata: { resourceVersion }, status: changedFields(instance.status, status) };
      const options = { ...write, subresource: "status" };
      try {
        const key = keyOnly(identityOf(instance));
        const patched = await client.patch(FireboltInstance, key, { type: "merge", body }, options);
        const fields = pruned.compare(status, patched);
        if (fields.length > 0) logger.error("status fields were not stored", new Error(OLD_CRD), { fields });
        return { type: "written", instance: pruned.restore(patched) };
      } catch (error) {
        if (isConflict(error)) return { type: "conflict" };
        if (isNotFound(error)) return { type: "gone" };
        throw error;
      }
    },
  };
}

/**
 * A strategy without these parameters must remove those that another writer set: the API server rejects the
 * combination.
 */
function withoutRollingUpdate(content: object): object {
  if (!("spec" in content) || !isObject(content.spec)) return content;
  const { spec } = content;
  // The field's name in Deployments and in StatefulSets.
  const named = ["strategy", "updateStrategy"].flatMap((field) => {
    const strategy = spec[field];
    return isObject(strategy) ? [[field, { rollingUpdate: null, ...strategy }] as const] : [];
  });
  return { ...content, spec: { ...spec, ...Object.fromEntries(named) } };
}

function typeOf(kind: ChildKind): ResourceType<KubeObject> {
  return KINDS[kind];
}

function asKubeObject(object: Rendered): KubeObject {
  return object;
}

/** Only the two fields of a key: the caller may pass an object with more. */
function keyOnly({ namespace, name }: InstanceKey): InstanceKey {
  return { namespace, name };
}
