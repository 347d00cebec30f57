// What compute may return: one variant per kind of pass, each with exactly the writes that its steps allow
// (docs/design/engine.md#steps). A bump cannot carry objects, a hold cannot carry deletes, and nothing but `broken`
// comes without a status.

import type { EngineEventReason } from "../../api/events.ts";
import type { EngineStatus } from "../../api/firebolt-engine/status.ts";
import type { V1Service, V1StatefulSet } from "../../api/generated/kubernetes.ts";
import type { AutoStopReason } from "../../api/phases.ts";
import type { EngineReadyReason } from "../../api/reasons.ts";
import type { Violation } from "../../podtemplate/rules/violation.ts";
import type { WakeRequest } from "../auto-stop/wake-request.ts";
import type { ChildKind, Part, PartObject } from "./child-kinds.ts";
import type { Service } from "./children.ts";
import type { EnginePhase } from "./phase.ts";

/** When the engine is requeued, besides every event that concerns it. */
export type Recheck = "requeue" | { readonly afterMs: number };

/** The status as it should be stored, without its `lastReconciled` stamp, which moves only with a real change. */
export type NextStatus = EngineStatus & { readonly phase: EnginePhase };

/** Why a generation had to be left: the first field that differs. */
export interface Cause {
  readonly path: string;
  readonly live: string;
  readonly wanted: string;
  /** The class of the engine, or what it requests, is not the one that the generation was made with. */
  readonly classChanged?: true;
}

/** The routing Service as it should be. A write is bound to what was observed, so a stale pass cannot move traffic. */
export interface RoutingWrite {
  readonly service: V1Service;
  readonly generation: number;
  readonly observed: { readonly type: "absent" } | { readonly type: "live"; readonly service: Service };
}

/**
 * An object to write: created where there is none, applied where the one that is there is known to be the engine's own.
 */
export interface Apply<T> {
  readonly object: T;
  readonly exists: boolean;
}

/** Something under a name the engine needs that is not the engine's to use: the pass waits until it is deleted. */
export interface Obstacle {
  readonly kind: ChildKind;
  readonly name: string;
  /** It belongs to another owner, or is still being deleted. */
  readonly type: "foreign" | "terminating";
}

/** The objects of a generation beside its StatefulSet. */
export type PartWrites = { readonly [P in Part]?: Apply<PartObject<P>> };

/**
 * What is absent is already as it should be. The parts are written before the StatefulSet and the routing Service last,
 * except for the routing Service of a generation that serves, which comes first: queries must not wait for a generation
 * that cannot be built.
 */
export interface Ensure extends PartWrites {
  readonly obstacle?: Obstacle;
  readonly statefulSet?: V1StatefulSet;
  readonly routing?: RoutingWrite;
}

/** One object to delete, pinned to the very object that was seen. */
export interface Removal {
  /** A pod only where no StatefulSet owns it any more. */
  readonly kind: ChildKind | "Pod";
  readonly name: string;
  readonly uid: string;
  /** Given where the object must not have changed since it was judged. */
  readonly resourceVersion?: string;
}

/** What keeps a gate closed, for logs and events. */
export interface Refusal {
  /** Of the Ready condition. */
  readonly reason: EngineReadyReason;
  readonly message: string;
  /** The reason of the event that reports it; undefined where no event is recorded. */
  readonly event: EngineEventReason | undefined;
  readonly violations: readonly Violation[];
}

/** A volume that is left out of the pods, because it would show them a Secret of the operator. */
export interface SecretAlias {
  /** Where it is in the engine's manifest, or in its class's. */
  readonly path: string;
  readonly volume: string;
  readonly secret: string;
}

/**
 * Another number of replicas that auto-stop wants, and the status that belongs to it. Rejected, the pass ends without
 * either.
 */
export interface Scale {
  readonly from: number;
  readonly to: number;
  readonly reason: AutoStopReason;
  readonly status: NextStatus;
  /** The wake request that counted in this pass. */
  readonly wake?: WakeRequest;
}

export type EngineDecision =
  | { readonly type: "initialise"; readonly step: "initialise"; readonly status: NextStatus }
  | {
      readonly type: "refuse";
      readonly step: "class-gate" | "instance-gate" | "validation-gate" | "object-rejected";
      readonly status: NextStatus;
      readonly refusal: Refusal;
      readonly recheck: Recheck;
    }
  | { readonly type: "broken"; readonly step: "contradiction-at-rest" | "contradiction"; readonly detail: string }
  | { readonly type: "bump"; readonly step: "bump"; readonly status: NextStatus; readonly cause: Cause }
  | {
      readonly type: "abandon";
      readonly step: "abandon";
      readonly status: NextStatus;
      readonly cause: Cause;
      readonly generation: number;
      readonly routing?: RoutingWrite;
      readonly remove: readonly Removal[];
    }
  | {
      readonly type: "hold";
      readonly step:
        | "verify"
        | "build"
        | "await-pods"
        | "switch-service"
        | "drain-wait"
        | "damped"
        | "routing-in-the-way";
      readonly status: NextStatus;
      readonly ensure: Ensure;
      readonly recheck: Recheck;
      /** At rest, and for a wake request that meets a stop. */
      readonly scale?: Scale;
      /** With a new StatefulSet only: what it lacks of the templates. */
      readonly leftOut?: readonly SecretAlias[];
      /** Where the routing Service is written over: the field manager that edited it, as far as it is known. */
      readonly editor?: string;
    }
  | {
      readonly type: "move";
      readonly step:
        | "pods-ready"
        | "step-back"
        | "start-drain"
        | "skip-drain"
        | "first-rest"
        | "nothing-to-drain"
        | "drained"
        | "unknown-phase"
        | "switch-back"
        | "drain-again";
      readonly status: NextStatus;
      readonly ensure: Ensure;
      readonly recheck: Recheck;
    }
  | {
      readonly type: "clean";
      readonly step: "clean";
      readonly status: NextStatus;
      readonly ensure: Pick<Ensure, "routing">;
      readonly remove: readonly Removal[];
    };

/** A decision that ends in a status write. */
export type WritableDecision = Exclude<EngineDecision, { readonly type: "broken" }>;

/**
 * At rest, an engine that is not as it should be is requeued soon; one that is, only in case an event was missed
 * (adr/0014).
 */
export const RECHECK_MS = {
  gate: 10_000,
  creating: 5_000,
  atRest: 30_000,
  settled: 240_000,
  sweepBacklog: 2_000,
  /** What was read is not what is stored: the lagging watch triggers the engine earlier when it catches up. */
  stale: 1_000,
} as const;
