// EngineCluster over the API: cached reads from the caches, everything else one request each. Knows how things
// are written (fields, preconditions, propagation) and nothing about why.
import {
  changedFields,
  type DeepReadonly,
  formatKey,
  isAlreadyExists,
  isConflict,
  isNotFound,
  KubeApiError,
  keyOf,
  type Logger,
} from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import type { PrunedStatus } from "@firebolt-operator/kube/reconcile";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { V1ObjectMeta } from "../../api/generated/kubernetes.ts";
import { FIELD_MANAGER } from "../../api/group.ts";
import { LABEL, LABEL_VALUE_MAX_LENGTH } from "../../api/labels.ts";
import type { Evaluations } from "../auto-stop/evaluations.ts";
import type { DemandSource } from "../demand/demand-source.ts";
import type { GatewayReports } from "../gateways/gateway-reports.ts";
import { CHILD_KINDS, CHILDREN, type ChildKind, type ChildOf, type ChildTypes, PODS } from "../model/child-kinds.ts";
import type { ChildObject, Engine } from "../model/children.ts";
import type { RoutingWrite } from "../model/decision.ts";
import { isPodName } from "../model/names.ts";
import { identityOf } from "../model/stored-state.ts";
import type { QueryProber } from "../probe/query-probe.ts";
import { type EngineCaches, INDEX } from "./caches.ts";
import type {
  CachedReads,
  CreateResult,
  DirectReads,
  EngineCluster,
  EngineKey,
  StatusWriteResult,
  Writes,
} from "./engine-cluster.ts";
import { coreEvents, pods, services } from "./kinds.ts";
import { warningOf } from "./statefulset-warning.ts";

const WARNING_LIMIT = 32;
const OLD_CRD = "the CRD of FireboltEngine is older than the operator: upgrade the CRDs";

/** By `namespace/name`, the resourceVersion of the engine that this process stored last. */
export type StoredVersions = Map<string, string>;

export interface KubeClusterOptions {
  readonly client: KubeClient;
  readonly caches: EngineCaches;
  readonly signal: AbortSignal;
  readonly prober: Pick<QueryProber, "queries">;
  readonly evaluations: Evaluations;
  /** Lives as long as the process: which version of an engine it stored last. */
  readonly stored: StoredVersions;
  /** Lives as long as the process: status fields that an older CRD does not keep. */
  readonly pruned: PrunedStatus;
  readonly logger: Logger;
  /** Absent: gateways are not polled for demand. */
  readonly demand?: Pick<DemandSource, "of">;
  /** Absent: gateways are not read for the endpoints that they use. */
  readonly gateways?: Pick<GatewayReports, "departure">;
}

/** One cluster per pass: its signal ends whatever the pass waits for. */
export function kubeCluster(options: KubeClusterOptions): EngineCluster {
  const { signal, evaluations } = options;
  return { signal, evaluations, ...cachedReads(options), ...directReads(options), ...writes(options) };
}

function cachedReads({ caches, demand, gateways, stored, pruned }: KubeClusterOptions): CachedReads {
  return {
    engine: (key) => {
      const found = caches.engines.get(key);
      return found === undefined ? undefined : pruned.restore(found);
    },
    engineClass: (key) => caches.classes.get(key),
    instance: (key) => caches.instances.get(key),
    child: (kind, key) => caches.children[kind].get(key),
    children: ({ namespace, name }) =>
      CHILD_KINDS.flatMap((kind) =>
        caches.children[kind]
          .byIndex(INDEX.engine, `${namespace}/${name}`)
          .flatMap(({ metadata }) => childOf(kind, metadata)),
      ),
    pods: (engine, generation) =>
      caches.pods
        .byIndex(INDEX.generation, `${formatKey(engineKey(engine))}/${generation}`)
        .filter(({ metadata }) => isPodName(metadata?.name, engine.name, generation)),
    wroteLast: (engine) => {
      const { resourceVersion } = engine.metadata ?? {};
      return resourceVersion !== undefined && stored.get(formatKey(engineKey(identityOf(engine)))) === resourceVersion;
    },
    ...(demand === undefined ? {} : { wakeDemand: (engine) => demand.of(engineKey(engine)) }),
    ...(gateways === undefined
      ? {}
      : { departure: (engine, request) => gateways.departure(engineKey(engine), request) }),
  };
}

function directReads({ client, prober, signal, pruned }: KubeClusterOptions): DirectReads {
  const call = { signal };
  return {
    async readEngine(key) {
      const found = await client.find(FireboltEngine, engineKey(key), call);
      return found === undefined ? undefined : pruned.restore(found);
    },
    async readChild<K extends ChildKind>(kind: K, key: EngineKey): Promise<ChildOf<K> | undefined> {
      // Every T is a DeepReadonly<T>; the compiler cannot see that of a kind that it does not know.
      return (await client.find(CHILDREN[kind].resource, engineKey(key), call)) as ChildOf<K> | undefined;
    },
    async listChildren(kind, { namespace, name }) {
      // What cannot be a label value has never labelled anything, and the API server rejects it in a selector.
      if (name.length > LABEL_VALUE_MAX_LENGTH) return [];
      const { items } = await client.listAll<ChildTypes[ChildKind]>(CHILDREN[kind].resource, {
        ...call,
        namespace,
        labelSelector: `${LABEL.engine}=${name}`,
      });
      return items.flatMap(({ metadata }) => childOf(kind, metadata));
    },
    async listPods({ namespace, name }, generation) {
      const labelSelector = `${LABEL.engine}=${name},${LABEL.generation}=${generation}`;
      const { items } = await client.listAll(pods, { ...call, namespace, labelSelector });
      return items.filter(({ metadata }) => isPodName(metadata?.name, name, generation));
    },
    async listWarnings(namespace, uid) {
      const fieldSelector = `involvedObject.uid=${uid},type=Warning`;
      const { items } = await client.list(coreEvents, { ...call, namespace, fieldSelector, limit: WARNING_LIMIT });
      return items.map(warningOf);
    },
    queries: async (engine, pods, request) => prober.queries(engineKey(engine), pods, request),
  };
}

function writes({ client, signal, stored, pruned, logger }: KubeClusterOptions): Writes {
  const write = { signal, fieldManager: FIELD_MANAGER };
  // Forgotten until there is a response: a write that got none may have been stored.
  const remembered = async (base: Engine, request: (key: EngineKey) => Promise<Engine>): Promise<Engine> => {
    const key = engineKey(identityOf(base));
    stored.delete(formatKey(key));
    const engine = await request(key);
    stored.set(formatKey(key), engine.metadata?.resourceVersion ?? "");
    return engine;
  };
  const patchFinalizers = async (engine: Engine, finalizers: readonly string[]): Promise<void> => {
    // A merge patch replaces the whole list, so it must be the list that was read.
    const body = { metadata: { resourceVersion: engine.metadata?.resourceVersion, finalizers } };
    await client.patch(FireboltEngine, engineKey(identityOf(engine)), { type: "merge", body }, write);
  };
  return {
    addFinalizer: (engine) =>
      patchFinalizers(engine, [...(engine.metadata?.finalizers ?? []), FireboltEngine.finalizer]),
    removeFinalizer: (engine) =>
      patchFinalizers(
        engine,
        (engine.metadata?.finalizers ?? []).filter((name) => name !== FireboltEngine.finalizer),
      ),
    createChild: (kind, object) => createResult(client.create(CHILDREN[kind].resource, object, write)),
    async applyChild(kind, object) {
      await client.apply(CHILDREN[kind].resource, object, { ...write, force: true });
    },
    async writeRoutingService(routing) {
      try {
        if (routing.observed.type === "absent") await client.create(services, routing.service, write);
        else await client.patch(services, keyOf(routing.service), routingPatch(routing), write);
        return "written";
      } catch (error) {
        if (isAlreadyExists(error) || isConflict(error) || isNotFound(error)) return "conflict";
        throw error;
      }
    },
    async remove(namespace, { kind, name, uid, resourceVersion }) {
      const { resource, propagation } = kind === "Pod" ? PODS : CHILDREN[kind];
      const pin = resourceVersion === undefined ? {} : { resourceVersion };
      try {
        await client.delete(resource, { namespace, name }, { signal, uid, propagation, ...pin });
        return "accepted";
      } catch (error) {
        if (isNotFound(error)) return "accepted";
        if (isConflict(error)) return "conflict";
        throw error;
      }
    },
    async patchReplicas(engine, replicas) {
      const body = { metadata: { resourceVersion: engine.metadata?.resourceVersion }, spec: { replicas } };
      try {
        const patched = await remembered(engine, (key) =>
          client.patch(FireboltEngine, key, { type: "merge", body }, write),
        );
        return { type: "patched", engine: pruned.restore(patched) };
      } catch (error) {
        // The API server rejected the write (conflict, webhook, validation). A transport error stays an error: it may
        // have happened.
        if (error instanceof KubeApiError) return { type: "refused", because: error };
        throw error;
      }
    },
    async writeStatus(engine, status): Promise<StatusWriteResult> {
      const body = {
        metadata: { resourceVersion: engine.metadata?.resourceVersion },
        status: changedFields(engine.status, status),
      };
      try {
        const patched = await remembered(engine, (key) =>
          client.patch(FireboltEngine, key, { type: "merge", body }, { ...write, subresource: "status" }),
        );
        const fields = pruned.compare(status, patched);
        if (fields.length > 0) logger.error("status fields were not stored", new Error(OLD_CRD), { fields });
        return { type: "written", engine: pruned.restore(patched) };
      } catch (error) {
        if (isConflict(error)) return { type: "conflict" };
        if (isNotFound(error)) return { type: "gone" };
        throw error;
      }
    },
  };
}

async function createResult(request: Promise<unknown>): Promise<CreateResult> {
  try {
    await request;
    return "created";
  } catch (error) {
    if (isAlreadyExists(error)) return "exists";
    throw error;
  }
}

/**
 * Not an apply: only a create can insist that there is no Service yet, and only a patch of the whole port list puts
 * back a port that was renumbered. The version makes a stale pass fail instead of moving traffic.
 */
function routingPatch({ service, observed }: RoutingWrite) {
  const seen = observed.type === "live" ? observed.service : undefined;
  const { selector, ports, publishNotReadyAddresses } = service.spec ?? {};
  const strange = Object.keys(seen?.spec?.selector ?? {}).map((key) => [key, null] as const);
  const body = {
    metadata: { resourceVersion: seen?.metadata?.resourceVersion, labels: service.metadata?.labels },
    spec: { selector: { ...Object.fromEntries(strange), ...selector }, ports, publishNotReadyAddresses },
  };
  return { type: "merge", body } as const;
}

function childOf(kind: ChildKind, metadata: DeepReadonly<V1ObjectMeta> | undefined): readonly ChildObject[] {
  return metadata === undefined ? [] : [{ kind, metadata }];
}

/** Only the two fields that name something: what the caller passes may know more. */
function engineKey({ namespace, name }: EngineKey): EngineKey {
  return { namespace, name };
}
