// What each write of the operator does to the cluster, with the answers that the API server would give: versions and identities
// are checked, names that are taken are refused, what is marked for deletion stays while something holds it.
import type { EngineStatus } from "../../../src/api/engine-status.ts";
import type { V1ConfigMap, V1Service, V1StatefulSet } from "../../../src/api/generated/kubernetes.ts";
import type { Engine } from "../../../src/engine/children.ts";
import type { Removal, RoutingWrite } from "../../../src/engine/decision.ts";
import type { CreateAnswer, StatusWriteAnswer } from "../../../src/engine/world.ts";
import { KubeApiError } from "../../../src/kube/errors.ts";
import type { Request } from "./calls.ts";
import { type ChildMap, type Cluster, created, deleted, touched, withMap, written } from "./cluster.ts";
import { FINALIZER } from "./fixtures.ts";

export interface Effect<A> {
  readonly cluster: Cluster;
  readonly answer: A;
  /** The answer is a no that the operator is told about in a regular way. */
  readonly refused?: true;
}

export const refusal = (status: number, reason: string): KubeApiError => new KubeApiError("model", status, { reason });

export function createdChild(
  cluster: Cluster,
  map: ChildMap,
  object: V1ConfigMap | V1Service | V1StatefulSet,
): Effect<CreateAnswer> {
  const name = object.metadata?.name ?? "";
  if (cluster[map].has(name)) return { cluster, answer: "exists", refused: true };
  const stored = withMap<object>(cluster[map], name, created(cluster, object));
  return { cluster: written(cluster, { [map]: stored }), answer: "created" };
}

export function routed(cluster: Cluster, { service, observed }: RoutingWrite): Effect<"written" | "conflict"> {
  const name = service.metadata?.name ?? "";
  const found = cluster.services.get(name);
  if (observed.type === "absent") {
    if (found !== undefined) return { cluster, answer: "conflict", refused: true };
    const services = withMap(cluster.services, name, created(cluster, service));
    return { cluster: written(cluster, { services }), answer: "written" };
  }
  // A patch that names no version is not bound to one.
  const bound = observed.service.metadata?.resourceVersion;
  if (found === undefined || (bound !== undefined && bound !== found.metadata?.resourceVersion))
    return { cluster, answer: "conflict", refused: true };
  const changed = touched(cluster, { ...found, ...(service.spec === undefined ? {} : { spec: service.spec }) });
  return { cluster: written(cluster, { services: withMap(cluster.services, name, changed) }), answer: "written" };
}

export function removed(
  cluster: Cluster,
  map: ChildMap,
  { name, uid, resourceVersion }: Removal,
): Effect<"accepted" | "conflict"> {
  const found = cluster[map].get(name)?.metadata;
  if (found === undefined) return { cluster, answer: "accepted" };
  const isSame = found.uid === uid && (resourceVersion === undefined || resourceVersion === found.resourceVersion);
  if (!isSame) return { cluster, answer: "conflict", refused: true };
  return { cluster: deleted(cluster, map, name, map === "statefulSets"), answer: "accepted" };
}

export function withStatus(cluster: Cluster, base: Engine, status: EngineStatus): Effect<StatusWriteAnswer> {
  const { engine } = cluster;
  if (engine === undefined) return { cluster, answer: { type: "gone" }, refused: true };
  if (engine.metadata?.resourceVersion !== base.metadata?.resourceVersion)
    return { cluster, answer: { type: "conflict" }, refused: true };
  const stored = touched(cluster, { ...engine, status });
  return { cluster: written(cluster, { engine: stored }), answer: { type: "written", engine: stored } };
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

/** Server-side apply that takes over what others wrote: whoever owns the object, it is completed. */
export function applied(
  cluster: Cluster,
  { map, object }: Extract<Request, { readonly type: "apply" }>,
): Effect<undefined> {
  const name = object.metadata?.name ?? "";
  const found = cluster[map].get(name);
  const store = (value: object) => written(cluster, { [map]: withMap<object>(cluster[map], name, value) });
  if (found === undefined) return { cluster: store(created(cluster, object)), answer: undefined };
  const { metadata: _, ...content } = object;
  return { cluster: store(touched(cluster, { ...found, ...content })), answer: undefined };
}
