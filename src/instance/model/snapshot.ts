// Everything that one decision about an instance depends on, read beforehand. Plain data.
import type { InstancePhase } from "../../api/phases.ts";
import type { MetadataReadyReason } from "../../api/reasons.ts";
import type { TroubledPod } from "../../pods/pod-trouble.ts";
import type { RenderSettings } from "../render/instance-objects.ts";
import type { Child, ChildMetadata, Instance, LiveObject, RenderedKind } from "./children.ts";
import type { InstanceIdentity } from "./names.ts";

/** The state of the Secret with which the metadata service logs in to its database. */
export type Credentials =
  | { readonly type: "usable" }
  /** There is none, and no data that was created with an earlier one. */
  | { readonly type: "toCreate" }
  | {
      readonly type: "unusable";
      readonly reason: Extract<MetadataReadyReason, `Postgres${string}`>;
      readonly message: string;
    };

/** The claim of the built-in PostgreSQL. */
export interface ClaimView {
  readonly uid: string;
  readonly isTerminating: boolean;
  /** Whether it carries the instance label, which selects it for the cache and shows whose it is. */
  readonly isLabelled: boolean;
  readonly volumeName: string | undefined;
  /** Kubernetes annotates a claim once it is bound, and the annotation stays. */
  readonly wasBound: boolean;
  /** The size that it requests. */
  readonly size: string | number | undefined;
  readonly storageClassName: string | undefined;
}

/** Why pods of a component are not ready. */
export interface Troubles {
  readonly postgres?: TroubledPod;
  readonly metadata?: TroubledPod;
  readonly gateway?: TroubledPod;
  /** Why the claim of the database gets no volume: the message of the pod names no storage class. */
  readonly volume?: VolumeTrouble;
}

export interface VolumeTrouble {
  readonly cause: string;
  readonly next: string;
}

/** A growth of the claim that the API server rejected recently. */
export interface RejectedGrowth {
  readonly uid: string;
  readonly size: string | number;
  readonly problem: string;
}

export interface InstanceSnapshot {
  readonly nowMs: number;
  readonly instance: Instance;
  readonly identity: InstanceIdentity;
  /** Undefined before the first status. */
  readonly phase: InstancePhase | undefined;
  /** Engines that hold its deletion; empty when it is not being deleted. */
  readonly heldBy: readonly string[];
  readonly settings: RenderSettings;
  readonly credentials: Credentials;
  /** Undefined with an external database: not read. */
  readonly claim: ClaimView | undefined;
  /** Read from the API server in this pass: nothing is deleted because of a cache alone. */
  readonly isClaimConfirmed: boolean;
  readonly rejectedGrowth: RejectedGrowth | undefined;
  /**
   * The volume wish (see ANNOTATION.volumeWish) for which this process replaced the StatefulSet, without success so
   * far.
   */
  readonly remadeFor: string | undefined;
  /** Metadata of the Secret with the credentials of the built-in PostgreSQL, from the watch. */
  readonly secret: ChildMetadata | undefined;
  readonly troubles: Troubles;
  /** Why the account id of the instance cannot be determined any more. */
  readonly lostId: string | undefined;
  /** Passes in a row that ended with a permanent rejection, for one version of the spec. */
  readonly rejections: { readonly generation: number; readonly count: number } | undefined;
  readonly children: ReadonlyMap<ChildKey, Child<LiveObject>>;
  /** Children that this process has observed, and has not deleted itself. */
  readonly seen: ReadonlySet<ChildKey>;
  /** Hashes of what the API server stored where it differs from what this process requested, by child. */
  readonly outcomes: ReadonlyMap<ChildKey, string>;
}

export type ChildKey = `${RenderedKind}/${string}`;

export const childKey = (kind: RenderedKind, name: string): ChildKey => `${kind}/${name}`;

export function childOf(
  { children }: Pick<InstanceSnapshot, "children">,
  kind: RenderedKind,
  name: string,
): Child<LiveObject> {
  return children.get(childKey(kind, name)) ?? { type: "absent" };
}
