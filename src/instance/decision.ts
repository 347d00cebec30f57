// What a pass over an instance decides, as data. The type says everything that can happen; apply.ts carries it out.
import type { GatewayReadyReason, MetadataReadyReason } from "../api/conditions.ts";
import type { InstanceStatus } from "../api/instance-status.ts";
import type { ChildKind, Rendered, RenderedKind } from "./children.ts";

/** Why a component is not ready. */
export type Finding =
  | { readonly component: "metadata"; readonly reason: MetadataReadyReason; readonly message: string }
  | { readonly component: "gateway"; readonly reason: GatewayReadyReason; readonly message: string };

/** One write. `isRepair`: somebody else deleted or changed the object. A step's writes are made in order; after one that is rejected, those that build on it are left out. */
export type Write =
  | { readonly type: "createCredentials" }
  /** Takes the Secret out of the instance's ownership, so that it survives it, and notes whose catalogue it opens. */
  | { readonly type: "retainCredentials"; readonly uid: string }
  | { readonly type: "growClaim"; readonly name: string; readonly uid: string; readonly size: string | number }
  /** Keeps PostgreSQL from starting on an empty volume by the fields that do it alone: no template of the spec's can make it invalid. */
  | { readonly type: "guardPostgres"; readonly name: string; readonly uid: string; readonly guard: PostgresGuard }
  /** Never changes an object that exists and is not the instance's. */
  | { readonly type: "create"; readonly object: Rendered; readonly isRepair: boolean }
  /** Only for an object that the instance owns: takes fields over from other managers. */
  | { readonly type: "update"; readonly object: Rendered; readonly uid: string; readonly isRepair: boolean }
  /** `wish`: what the spec says of the volume for which another StatefulSet takes the place of this one. */
  | { readonly type: "remove"; readonly removal: Removal; readonly wish?: string }
  /** Would it be stored? Asked before what stands in its place is removed. */
  | { readonly type: "rehearse"; readonly object: Rendered }
  /** Removes an object of a kind that is no longer managed, if it is still there and if that is still allowed. */
  | { readonly type: "retire"; readonly kind: RenderedKind; readonly name: string }
  /** The name is taken by something that may not be written: the step fails here. */
  | { readonly type: "blocked"; readonly kind: ChildKind; readonly name: string; readonly problem: string };

export interface PostgresGuard {
  /** Fenced: the pod that runs is left alone, and none that follows it starts. Stopped: no pod. */
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
  /** Being deleted, held by its engines, and nothing can be kept up. */
  | { readonly type: "hold"; readonly status: InstanceStatus }
  /** Which claim is the catalogue: stored before anything is built on it. */
  | { readonly type: "remember"; readonly status: InstanceStatus }
  /** Failed, and nothing has happened that would leave it. */
  | { readonly type: "rest" }
  /** `steps` make it safe, and provide nothing: whatever is refused, no database starts on a volume that is not its own. */
  | {
      readonly type: "refuse";
      readonly finding: Finding;
      readonly steps: readonly Step[];
      readonly status: InstanceStatus;
    }
  | {
      readonly type: "provision";
      readonly steps: readonly Step[];
      /** When every write is accepted. */
      readonly status: InstanceStatus;
      readonly recheckMs: number;
    };

/** A decision that has something to write. */
export type WritingDecision = Exclude<InstanceDecision, { readonly type: "rest" }>;

/** A write of a step that failed: what the condition shows of it, and whether only another spec or cluster can change the outcome. */
export interface FailedWrite {
  readonly step: Step;
  readonly message: string;
  readonly isPermanent: boolean;
}

export const RECHECK_MS = {
  ready: 30_000,
  /** Until the API server has heard of what it has just stored. */
  early: 200,
  waiting: 5_000,
  /** A Secret may appear, a quota be raised or a policy lifted at any time, and none of them is watched. */
  refused: 10_000,
  /** Between rejections as invalid, before the third means Failed. */
  invalid: 5_000,
  failed: 300_000,
  /** Between attempts to grow a claim: whether its class allows it is not watched. */
  growth: 60_000,
} as const;
