// Everything one decision about an instance depends on, read beforehand. Plain data.
import type { InstancePhase } from "../api/phases.ts";
import type { AppliedKind, Child, Instance, LiveObject } from "./children.ts";
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

export interface InstanceSnapshot {
  readonly nowMs: number;
  readonly instance: Instance;
  readonly identity: InstanceIdentity;
  /** Undefined before the first status. */
  readonly phase: InstancePhase | undefined;
  readonly settings: RenderSettings;
  readonly credentials: Credentials;
  readonly children: ReadonlyMap<ChildKey, Child<LiveObject>>;
  /** What earlier writes of this process came to where that is not what was asked for, by child. */
  readonly outcomes: ReadonlyMap<ChildKey, string>;
}

export type ChildKey = `${AppliedKind}/${string}`;

export const childKey = (kind: AppliedKind, name: string): ChildKey => `${kind}/${name}`;

export function childOf(
  { children }: Pick<InstanceSnapshot, "children">,
  kind: AppliedKind,
  name: string,
): Child<LiveObject> {
  return children.get(childKey(kind, name)) ?? { type: "absent" };
}
