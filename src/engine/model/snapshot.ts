// What observe read of one engine: the whole input of compute. Plain data; the clock is in it, so that compute reads
// none.

import type { EngineStatus } from "../../api/firebolt-engine/status.ts";
import type { OperatorDefaults } from "../../api/operator-defaults.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import type { TroubledPod } from "../../pods/pod-trouble.ts";
import type { Activity } from "../auto-stop/decide.ts";
import type { WakeDemand } from "../auto-stop/wake-request.ts";
import type { ChildOf, Part, PartKind } from "./child-kinds.ts";
import type { Child, Engine, EngineClass, Instance, Pod, Service, StatefulSet } from "./children.ts";
import type { Obstacle } from "./decision.ts";
import type { EngineIdentity } from "./names.ts";
import type { StoredPhase } from "./phase.ts";
import type { ResourceBounds } from "./validate.ts";

/** The counters of the status, with what their absence means filled in. */
export interface Generations {
  readonly current: number;
  /** -1 before the first cut-over. */
  readonly active: number;
  readonly draining: number | undefined;
  /** The highest number ever used: a new generation counts from here. */
  readonly highest: number;
}

export type ClassView =
  | { readonly type: "none" }
  | { readonly type: "missing"; readonly name: string }
  | { readonly type: "found"; readonly object: EngineClass };

/** The objects of a generation beside its StatefulSet. */
export type ObservedParts = { readonly [P in Part]: Child<ChildOf<PartKind<P>>> };

/** The objects that carry one generation. */
export interface GenerationSet extends ObservedParts {
  readonly generation: number;
  readonly statefulSet: Child<StatefulSet>;
}

/** Pods of one generation. */
export interface PodCount {
  readonly wanted: number;
  readonly total: number;
  readonly ready: number;
  readonly allReady: boolean;
  /** Why the first pod that is in trouble is not ready. */
  readonly trouble?: TroubledPod;
  /** In how long a pod that is only starting will count as being in trouble. */
  readonly troubleInMs?: number;
}

/** The routing Service and the generation it selects: -1 when the selector is not one that the operator would write. */
export type Routing =
  | { readonly type: "absent" }
  | { readonly type: "foreign" | "terminating"; readonly service: Service; readonly target: number }
  | { readonly type: "live"; readonly service: Service; readonly target: number };

/** What is known of the queries of the draining generation. */
export type DrainProbe =
  | { readonly type: "notProbed" }
  /** Clients may still have the old addresses: no probe counts before this moment. */
  | { readonly type: "settling"; readonly untilMs: number }
  /** The pods are being probed and have not all responded. */
  | { readonly type: "pending" }
  | { readonly type: "drained" }
  | { readonly type: "busy"; readonly pod: string; readonly queries: number }
  | { readonly type: "failing"; readonly pod: string; readonly cause: string; readonly isForbidden?: true };

/** How a rollout ends, read live in every pass. */
export interface DrainSettings {
  readonly required: boolean;
  readonly intervalMs: number;
  /** How long after the switch a probe counts: until then clients may send queries to stale addresses. */
  readonly settleMs: number;
}

/** One Warning that Kubernetes recorded about a StatefulSet. */
export interface StatefulSetWarning {
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  /** Milliseconds since the epoch of its last occurrence. */
  readonly lastSeenMs: number;
}

/** What observe reads only where the step depends on it (compute/inquiries.ts). Undefined: not read, or not found. */
export interface Findings {
  /** The newest of the current StatefulSet. */
  readonly warning?: StatefulSetWarning | undefined;
  /** Who edited the current StatefulSet and the routing Service. */
  readonly statefulSetEditor?: string | undefined;
  readonly serviceEditor?: string | undefined;
  /** When `spec.replicas` was set to zero, in milliseconds since the epoch. */
  readonly replicasSetMs?: number | undefined;
  /** What the pods of the active generation run; pending: they have not all responded. */
  readonly activity?: Activity | "pending" | undefined;
  /** When this process last observed the activity before; undefined where that is not kept. */
  readonly lastEvaluated?: number | "never" | undefined;
}

/** A write of a child that failed in this pass, and will fail again until something changes. */
export type RejectedWrite =
  | { readonly type: "nameInUse"; readonly obstacle: Obstacle; readonly message: string }
  | { readonly type: "rejected"; readonly message: string };

export interface EngineSnapshot {
  readonly nowMs: number;
  readonly engine: Engine;
  readonly identity: EngineIdentity;
  readonly phase: StoredPhase;
  readonly status: DeepReadonly<EngineStatus> | undefined;
  readonly generations: Generations;
  readonly engineClass: ClassView;
  readonly instance: Instance | undefined;
  readonly bounds: ResourceBounds;
  readonly defaults: OperatorDefaults;
  readonly drain: DrainSettings;
  readonly current: GenerationSet;
  readonly pods: PodCount;
  readonly routing: Routing;
  /** The set of `generations.draining`; undefined when there is none, or when it is the current one. */
  readonly draining: GenerationSet | undefined;
  /** Pods of the draining generation, by its own number of replicas. */
  readonly drainingPods: PodCount;
  /** Pods of the draining generation that no controller owns: deleting its StatefulSet does not delete them. */
  readonly orphanedPods: readonly Pod[];
  readonly drainProbe: DrainProbe;
  /** What gateways last reported about the engine; undefined: nothing, or they are not polled. */
  readonly wakeDemand?: WakeDemand | undefined;
  readonly findings?: Findings;
  /** Set for the second decision of a pass whose first one could not be written. */
  readonly rejected?: RejectedWrite;
}
