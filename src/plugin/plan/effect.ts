// What a change comes to, as data: the plan is a list of these, printed by render-plan.ts and as they are with -o json.
import type { FieldDifference } from "../../engine/drift/find-drift.ts";

export type Effect =
  | { readonly type: "nothing" }
  /** Read by the operator while it runs: no pod is replaced. */
  | { readonly type: "live"; readonly settings: readonly string[] }
  | { readonly type: "creates"; readonly what: string }
  /** A new generation, or new pods of a component. */
  | {
      readonly type: "rolls";
      readonly what: string;
      readonly fields: readonly FieldDifference[];
      readonly how: readonly string[];
    }
  /** Accepted, but nothing happens until something else is there. */
  | { readonly type: "waits"; readonly reason: string; readonly message: string }
  | { readonly type: "refused"; readonly by: "API server" | "operator"; readonly problems: readonly string[] };

export interface PlannedEffect {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly effect: Effect;
  /** What the object does to others: engines of a class. */
  readonly consequences: readonly { readonly kind: string; readonly name: string; readonly effect: Effect }[];
  readonly warnings: readonly string[];
}

export const isRolling = ({ effect, consequences }: PlannedEffect): boolean =>
  effect.type === "rolls" || consequences.some((one) => one.effect.type === "rolls");

export const isRefused = ({ effect, consequences }: PlannedEffect): boolean =>
  effect.type === "refused" || consequences.some((one) => one.effect.type === "refused");
