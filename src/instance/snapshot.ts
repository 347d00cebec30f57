// Everything one decision about an instance depends on, read beforehand. Plain data.
import type { InstancePhase } from "../api/phases.ts";
import type { TroubledPod } from "../pods/pod-trouble.ts";
import type { Child, ChildMetadata, Instance, LiveObject, RenderedKind } from "./children.ts";
import type { InstanceIdentity } from "./names.ts";
import type { RenderSettings } from "./render/instance-objects.ts";

/** What is known about the Secret with which metadata logs in to its database. */
export type Credentials =
  | { readonly type: "usable" }
  /** There is none, and no data that belongs to an earlier one. */
  | { readonly type: "toCreate" }
  | {
      readonly type: "unusable";
      readonly reason: "PostgresEnsureFailed" | "PostgresSecretPreflightFailed";
      readonly message: string;
    };

/** The claim of the built-in PostgreSQL. */
export interface ClaimView {
  readonly uid: string;
  readonly isLeaving: boolean;
  /** By which caches know it, and the operator whose it is. */
  readonly isLabelled: boolean;
  readonly volumeName: string | undefined;
  /** Kubernetes notes on it that it was bound, whether it still is or not. */
  readonly wasBound: boolean;
  /** The size that it requests. */
  readonly size: string | number | undefined;
  readonly storageClassName: string | undefined;
}

/** What keeps pods of a component from being ready, where something does. */
export interface Troubles {
  readonly postgres?: TroubledPod;
  readonly metadata?: TroubledPod;
  readonly gateway?: TroubledPod;
  /** Why the claim of the database gets no volume: what its pod says of it names no class. */
  readonly volume?: VolumeTrouble;
}

export interface VolumeTrouble {
  readonly cause: string;
  readonly next: string;
}

/** A growth of the claim that the API server rejected a short while ago. */
export interface RefusedGrowth {
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
  /** Undefined with an external database: nobody looks. */
  readonly claim: ClaimView | undefined;
  /** The API server itself said so in this pass: what a cache shows deletes nothing. */
  readonly isClaimConfirmed: boolean;
  readonly refusedGrowth: RefusedGrowth | undefined;
  /** The wish (see ANNOTATION.volumeWish) for which this process made the StatefulSet anew, to no avail so far. */
  readonly remadeFor: string | undefined;
  /** Of the Secret with the credentials of the built-in PostgreSQL, as the watch shows it. */
  readonly secret: ChildMetadata | undefined;
  readonly troubles: Troubles;
  /** Why the account id of the instance cannot be determined any more. */
  readonly lostId: string | undefined;
  /** Passes in a row that ended with a permanent rejection, for one version of the spec. */
  readonly rejections: { readonly generation: number; readonly count: number } | undefined;
  readonly children: ReadonlyMap<ChildKey, Child<LiveObject>>;
  /** Children that this process has seen, and has not deleted itself. */
  readonly seen: ReadonlySet<ChildKey>;
  /** What earlier writes of this process came to where that is not what was asked for, by child. */
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
