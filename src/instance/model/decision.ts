// The decision of one pass over an instance, as data. The type lists everything that can happen; apply.ts makes the
// writes.

import type { InstanceStatus } from "../../api/firebolt-instance/status.ts";
import type { GatewayReadyReason, MetadataReadyReason } from "../../api/reasons.ts";
import type { ChildKind, Rendered, RenderedKind } from "./children.ts";

/** Why a component is not ready. */
export type Finding =
  | { readonly component: "metadata"; readonly reason: MetadataReadyReason; readonly message: string }
  | { readonly component: "gateway"; readonly reason: GatewayReadyReason; readonly message: string };

/**
 * One write. `isRepair`: another writer deleted or changed the object. The writes of a step are made in order; after
 * one that is rejected, those that depend on it are skipped.
 */
export type Write =
  | { readonly type: "createCredentials" }
  /**
   * Removes the instance from the owners of the Secret, so that the Secret survives it, and records the account of its
   * catalogue.
   */
  | { readonly type: "retainCredentials"; readonly uid: string }
  | { readonly type: "growClaim"; readonly name: string; readonly uid: string; readonly size: string | number }
  /**
   * Prevents PostgreSQL from starting on an empty volume. Patches those fields alone: no template in the spec can make
   * it invalid.
   */
  | { readonly type: "guardPostgres"; readonly name: string; readonly uid: string; readonly guard: PostgresGuard }
  /** Never changes an object that exists and does not belong to the instance. */
  | { readonly type: "create"; readonly object: Rendered; readonly isRepair: boolean }
  /** Only for an object that the instance owns: takes fields over from other managers. */
  | { readonly type: "update"; readonly object: Rendered; readonly uid: string; readonly isRepair: boolean }
  /** `wish`: the volume in the spec for which another StatefulSet replaces this one. */
  | { readonly type: "remove"; readonly removal: Removal; readonly wish?: string }
  /** A dry run: whether the API server would store the object. Made before the object that it replaces is deleted. */
  | { readonly type: "rehearse"; readonly object: Rendered }
  /** Deletes an object of a kind that is no longer managed, if it still exists and the operator still may. */
  | { readonly type: "retire"; readonly kind: RenderedKind; readonly name: string }
  /** The name is taken by an object that may not be written: the step fails here. */
  | { readonly type: "blocked"; readonly kind: ChildKind; readonly name: string; readonly problem: string };

export interface PostgresGuard {
  /** Fenced: the running pod continues, and no later one starts. Stopped: no pod. */
  readonly run: "fenced" | "stopped";
  readonly lostClaim: string | undefined;
}

export interface Removal {
  readonly kind: ChildKind;
  readonly name: string;
  readonly uid: string;
}

/** `failure` is the reason that the component's condition shows when a write of the step fails. */
export type Step = { readonly writes: readonly Write[] } & (
  | { readonly component: "metadata"; readonly failure: "PostgresEnsureFailed" | "EnsureFailed" }
  | { readonly component: "gateway"; readonly failure: "EnsureFailed" }
);

export type InstanceDecision =
  | { readonly type: "initialise"; readonly status: InstanceStatus }
  /** Being deleted, held by its engines, and nothing can be reconciled. */
  | { readonly type: "hold"; readonly status: InstanceStatus }
  /** Which claim holds the catalogue: stored before anything depends on it. */
  | { readonly type: "remember"; readonly status: InstanceStatus }
  /** Failed, and neither the spec nor the reset annotation has changed. */
  | { readonly type: "rest" }
  /**
   * `steps` protect the data and provision nothing: whatever is rejected, no database starts on a volume that is not
   * its own.
   */
  | {
      readonly type: "refuse";
      readonly finding: Finding;
      readonly steps: readonly Step[];
      readonly status: InstanceStatus;
    }
  | {
      readonly type: "provision";
      readonly steps: readonly Step[];
      /** The status if every write is accepted. */
      readonly status: InstanceStatus;
      readonly recheckMs: number;
    };

/** A decision that has something to write. */
export type WritingDecision = Exclude<InstanceDecision, { readonly type: "rest" }>;

/**
 * A write of a step that failed: what the condition shows of it, and whether only another spec or cluster can change
 * the outcome.
 */
export interface FailedWrite {
  readonly step: Step;
  readonly message: string;
  readonly isPermanent: boolean;
}

export const RECHECK_MS = {
  ready: 30_000,
  /** Until every part of the API server has observed what it just stored. */
  early: 200,
  waiting: 5_000,
  /** A Secret may be created, a quota raised or a policy lifted at any time, and none of them is watched. */
  refused: 10_000,
  /** Between rejections as invalid; the third ends in Failed. */
  invalid: 5_000,
  failed: 300_000,
  /** Between attempts to grow a claim: whether its class allows it is not watched. */
  growth: 60_000,
} as const;
