// What a pass over an instance decides, as data. The type says everything that can happen; apply.ts carries it out.
import type { GatewayReadyReason, MetadataReadyReason } from "../api/conditions.ts";
import type { InstanceStatus } from "../api/instance-status.ts";
import type { AppliedKind, ChildKind, Rendered } from "./children.ts";

/** Why a component is not ready. */
export type Finding =
  | { readonly component: "metadata"; readonly reason: MetadataReadyReason; readonly message: string }
  | { readonly component: "gateway"; readonly reason: GatewayReadyReason; readonly message: string };

/** One write. A step's writes are made in order, and the first that fails ends the pass. */
export type Write =
  | { readonly type: "createCredentials" }
  /** Fields are taken over from others only where the object is known to be the instance's. */
  | { readonly type: "apply"; readonly object: Rendered; readonly exists: boolean }
  | { readonly type: "remove"; readonly removal: Removal }
  /** Would it be stored? Asked before what stands in its place is removed. */
  | { readonly type: "rehearse"; readonly object: Rendered }
  /** Removes an object of a kind that is no longer managed, if it is still there and if that is still allowed. */
  | { readonly type: "retire"; readonly kind: AppliedKind; readonly name: string }
  /** The name is taken by something that may not be written: the step fails here. */
  | { readonly type: "blocked"; readonly kind: ChildKind; readonly name: string; readonly problem: string };

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
  /** Failed, and nothing has happened that would leave it. */
  | { readonly type: "rest" }
  | { readonly type: "refuse"; readonly finding: Finding; readonly status: InstanceStatus }
  | {
      readonly type: "provision";
      readonly steps: readonly Step[];
      /** When every write is accepted. */
      readonly status: InstanceStatus;
      readonly recheckMs: number;
    };

export const RECHECK_MS = {
  ready: 30_000,
  /** Until the API server has heard of what it has just stored. */
  early: 200,
  waiting: 5_000,
  /** A Secret may appear at any time and is not watched. */
  refused: 10_000,
  /** Between refusals by the API server, before the third means Failed. */
  writeRefused: 5_000,
  failed: 300_000,
} as const;
