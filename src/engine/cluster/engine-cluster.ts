// The only access of the engine's reconciler to the cluster. A real one implements it (kube-cluster.ts), and so does the
// store of the model test, so that the real observe, compute and apply run in both. One write is one awaited call.

import type { EngineStatus } from "../../api/firebolt-engine/status.ts";
import type { Evaluations } from "../auto-stop/evaluations.ts";
import type { WakeDemand } from "../auto-stop/wake-request.ts";
import type { Departure, DepartureRequest } from "../gateways/gateway-reports.ts";
import type { ChildKind, ChildOf, ChildTypes } from "../model/child-kinds.ts";
import type { ChildObject, Engine, EngineClass, Instance, Pod } from "../model/children.ts";
import type { Removal, RoutingWrite } from "../model/decision.ts";
import type { StatefulSetWarning } from "../model/snapshot.ts";
import type { ProbeRequest, QueryProbe } from "../probe/query-probe.ts";

export interface EngineKey {
  readonly namespace: string;
  readonly name: string;
}

/** Reads from caches that have seen the operator's own writes, but may lag behind those of others. */
export interface CachedReads {
  engine(key: EngineKey): Engine | undefined;
  engineClass(key: EngineKey): EngineClass | undefined;
  instance(key: EngineKey): Instance | undefined;
  child<K extends ChildKind>(kind: K, key: EngineKey): ChildOf<K> | undefined;
  /** The objects of all kinds that are labelled with the engine, whatever owns them. */
  children(engine: EngineKey): readonly ChildObject[];
  /** Pods labelled with the engine and the generation, in the order of their names. */
  pods(engine: EngineKey, generation: number): readonly Pod[];
  /** When auto-stop last evaluated each engine; absent where nothing is remembered between passes. */
  readonly evaluations?: Evaluations;
  /**
   * Whether this process itself stored the version of the engine that it sees. It leads, so no other status has been
   * stored since; of any other version it may not have seen the next one.
   */
  wroteLast(engine: Engine): boolean;
  /** What gateways reported when they were last polled; absent where they are not polled. */
  wakeDemand?(engine: EngineKey): WakeDemand | undefined;
  /** Whether gateways still send queries to a generation; absent where they are not read. Never waits. */
  departure?(engine: EngineKey, request: DepartureRequest): Departure;
}

/**
 * Reads from the API server itself, where an absence decides something, and from the pods. They throw when there is no
 * response.
 */
export interface DirectReads {
  readEngine(key: EngineKey): Promise<Engine | undefined>;
  readChild<K extends ChildKind>(kind: K, key: EngineKey): Promise<ChildOf<K> | undefined>;
  /** Those of one kind that are labelled with the engine. */
  listChildren(kind: ChildKind, engine: EngineKey): Promise<readonly ChildObject[]>;
  listPods(engine: EngineKey, generation: number): Promise<readonly Pod[]>;
  /** Newest 32 at most, in any order. */
  listWarnings(namespace: string, statefulSetUid: string): Promise<readonly StatefulSetWarning[]>;
  /**
   * What these pods were last found to run. Never waits for a pod: where a result is missing the pods are probed beside
   * the pass, and the engine is enqueued when they have responded.
   */
  queries(engine: EngineKey, pods: readonly Pod[], request: ProbeRequest): Promise<QueryProbe>;
}

/** Every write throws when the API server rejects it for a reason that the result type does not name. */
export interface Writes {
  /** Bound to the engine's resourceVersion; rejects on a conflict. */
  addFinalizer(engine: Engine): Promise<void>;
  removeFinalizer(engine: Engine): Promise<void>;
  /** Never changes an existing object, whatever owns it. */
  createChild<K extends ChildKind>(kind: K, object: ChildTypes[K]): Promise<CreateResult>;
  /** Server-side apply that takes fields over from others: only for objects that are known to be the engine's. */
  applyChild<K extends ChildKind>(kind: K, object: ChildTypes[K]): Promise<void>;
  /** Conflict: it is not as it was observed. */
  writeRoutingService(write: RoutingWrite): Promise<"written" | "conflict">;
  /**
   * An object that does not exist counts as accepted. Conflict: it is not the object, or not the version, that was
   * seen.
   */
  remove(namespace: string, removal: Removal): Promise<"accepted" | "conflict">;
  /** Writes `spec.replicas` alone, bound to the engine's resourceVersion. A rejection is a result. */
  patchReplicas(engine: Engine, replicas: number): Promise<ReplicasResult>;
  /** Stores the status over the one in `engine`, if that is still the stored version. */
  writeStatus(engine: Engine, status: EngineStatus): Promise<StatusWriteResult>;
}

export type CreateResult = "created" | "exists";

export type ReplicasResult =
  | { readonly type: "patched"; readonly engine: Engine }
  | { readonly type: "refused"; readonly because: unknown };

export type StatusWriteResult =
  | { readonly type: "written"; readonly engine: Engine }
  | { readonly type: "conflict" }
  | { readonly type: "gone" };

export interface EngineCluster extends CachedReads, DirectReads, Writes {
  /** Fires when the process stops. */
  readonly signal: AbortSignal;
}
