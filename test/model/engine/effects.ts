// What each write of the operator does to the cluster, with the responses that the API server would give: versions and
// identities are checked, names that are taken are rejected, what is marked for deletion stays while something holds
// it.
import { KubeApiError } from "@firebolt-operator/kube";
import type { EngineStatus } from "../../../src/api/firebolt-engine/status.ts";
import type { CreateResult, ReplicasResult, StatusWriteResult } from "../../../src/engine/cluster/engine-cluster.ts";
import type { ChildKind, ChildTypes } from "../../../src/engine/model/child-kinds.ts";
import type { Engine } from "../../../src/engine/model/children.ts";
import type { Removal, RoutingWrite } from "../../../src/engine/model/decision.ts";
import type { Request } from "./calls.ts";
import { type ChildMap, type Cluster, created, deleted, touched, withMap, withoutPod, written } from "./cluster.ts";
import { axesOf, FINALIZER, SIZES, specOf } from "./fixtures.ts";

export interface Effect<A> {
  readonly cluster: Cluster;
  readonly answer: A;
  /** A rejection that is a regular result for the operator. */
  readonly refused?: true;
}

export const refusal = (status: number, reason: string): KubeApiError => new KubeApiError("model", status, { reason });

/** Whatever a quota or a policy forbids is rejected before the object is read. */
function admit({ forbidden }: Cluster, map: ChildMap): void {
  if (forbidden === map) throw refusal(403, "Forbidden");
}

export function createdChild(cluster: Cluster, map: ChildMap, object: ChildTypes[ChildKind]): Effect<CreateResult> {
  const name = object.metadata?.name ?? "";
  admit(cluster, map);
  if (cluster[map].has(name)) return { cluster, answer: "exists", refused: true };
  const stored = withMap<object>(cluster[map], name, created(cluster, object));
  return { cluster: adopted(written(cluster, { [map]: stored }), map, name), answer: "created" };
}

/** A StatefulSet takes over pods of its name without an owner. */
function adopted(cluster: Cluster, map: ChildMap, name: string): Cluster {
  const group = map === "statefulSets" ? cluster.pods.get(name) : undefined;
  if (group?.orphaned !== true) return cluster;
  const { orphaned: _, ...owned } = group;
  return { ...cluster, pods: withMap(cluster.pods, name, owned) };
}

export function routed(cluster: Cluster, { service, observed }: RoutingWrite): Effect<"written" | "conflict"> {
  const name = service.metadata?.name ?? "";
  const found = cluster.services.get(name);
  admit(cluster, "services");
  if (observed.type === "absent") {
    if (found !== undefined) return { cluster, answer: "conflict", refused: true };
    const services = withMap(cluster.services, name, created(cluster, service));
    return { cluster: written(cluster, { services }), answer: "written" };
  }
  // A patch that names no version is not bound to one.
  const bound = observed.service.metadata?.resourceVersion;
  if (found === undefined || (bound !== undefined && bound !== found.metadata?.resourceVersion))
    return { cluster, answer: "conflict", refused: true };
  const labels = { ...found.metadata?.labels, ...service.metadata?.labels };
  const changed = touched(
    cluster,
    { ...found, ...(service.spec === undefined ? {} : { spec: service.spec }) },
    { labels },
  );
  return { cluster: written(cluster, { services: withMap(cluster.services, name, changed) }), answer: "written" };
}

export function removed(
  cluster: Cluster,
  map: ChildMap | "pods",
  { name, uid, resourceVersion }: Removal,
): Effect<"accepted" | "conflict"> {
  if (map === "pods") return { cluster: withoutPod(cluster, name), answer: "accepted" };
  const found = cluster[map].get(name)?.metadata;
  if (found === undefined) return { cluster, answer: "accepted" };
  const isSame = found.uid === uid && (resourceVersion === undefined || resourceVersion === found.resourceVersion);
  if (!isSame) return { cluster, answer: "conflict", refused: true };
  return { cluster: deleted(cluster, map, name, "foreground"), answer: "accepted" };
}

export function withStatus(cluster: Cluster, base: Engine, status: EngineStatus): Effect<StatusWriteResult> {
  const { engine } = cluster;
  if (engine === undefined) return { cluster, answer: { type: "gone" }, refused: true };
  if (engine.metadata?.resourceVersion !== base.metadata?.resourceVersion)
    return { cluster, answer: { type: "conflict" }, refused: true };
  const stored = touched(cluster, { ...engine, status });
  const used = Math.max(cluster.used, status.currentGeneration);
  return {
    cluster: written(cluster, { engine: stored, used, storedBy: stored.metadata?.resourceVersion }),
    answer: { type: "written", engine: stored },
  };
}

export function withReplicas(cluster: Cluster, base: Engine, wanted: number): Effect<ReplicasResult> {
  const { engine } = cluster;
  const replicas = SIZES.find((size) => size === wanted);
  if (
    engine === undefined ||
    replicas === undefined ||
    engine.metadata?.resourceVersion !== base.metadata?.resourceVersion
  )
    return { cluster, answer: { type: "refused", because: refusal(409, "Conflict") }, refused: true };
  const generation = (engine.metadata?.generation ?? 0) + 1;
  const stored = touched(cluster, { ...engine, spec: specOf({ ...axesOf(engine), replicas }) }, { generation });
  const storedBy = stored.metadata?.resourceVersion;
  return { cluster: written(cluster, { engine: stored, storedBy }), answer: { type: "patched", engine: stored } };
}

export function withFinalizer(cluster: Cluster, base: Engine, present: boolean): Effect<undefined> {
  const { engine } = cluster;
  if (engine === undefined) throw refusal(404, "NotFound");
  if (engine.metadata?.resourceVersion !== base.metadata?.resourceVersion) throw refusal(409, "Conflict");
  const others = (base.metadata?.finalizers ?? []).filter((name) => name !== FINALIZER);
  const finalizers = present ? [...others, FINALIZER] : others;
  const isEnd = finalizers.length === 0 && engine.metadata?.deletionTimestamp !== undefined;
  return {
    cluster: written(cluster, { engine: isEnd ? undefined : touched(cluster, engine, { finalizers }) }),
    answer: undefined,
  };
}

/** Server-side apply that takes over what others wrote: whatever owns the object, it is completed. */
export function applied(
  cluster: Cluster,
  { map, object }: Extract<Request, { readonly type: "apply" }>,
): Effect<undefined> {
  const name = object.metadata?.name ?? "";
  const found = cluster[map].get(name);
  admit(cluster, map);
  const store = (value: object) => written(cluster, { [map]: withMap<object>(cluster[map], name, value) });
  if (found === undefined) return { cluster: store(created(cluster, object)), answer: undefined };
  const bound = object.metadata?.resourceVersion;
  if (bound !== undefined && bound !== found.metadata?.resourceVersion) throw refusal(409, "Conflict");
  const { metadata, ...content } = object;
  const labels = { ...found.metadata?.labels, ...metadata?.labels };
  const ownerReferences = metadata?.ownerReferences ?? found.metadata?.ownerReferences ?? [];
  return { cluster: store(touched(cluster, { ...found, ...content }, { labels, ownerReferences })), answer: undefined };
}
