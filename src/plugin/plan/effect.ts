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
  /** What the object does to others: engines of a class or of an instance. */
  readonly consequences: readonly { readonly kind: string; readonly name: string; readonly effect: Effect }[];
  readonly warnings: readonly string[];
}

/** One object that something happens to, once, however many changes reach it. */
export interface Affected {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly effect: Effect;
}

/** What a person wants to know first. */
const SEVERITY: readonly Effect["type"][] = ["refused", "rolls", "waits", "creates", "live", "nothing"];

/**
 * Everything that the plan does something to: the objects of the file, and the engines that they reach. An engine that the file holds
 * itself counts with what its own manifest does, for that is planned with the class and the instance as the file leaves them.
 */
export function affectedBy(planned: readonly PlannedEffect[]): readonly Affected[] {
  const found = new Map<string, Affected>();
  const keyOf = ({ kind, namespace, name }: Affected): string => `${kind}/${namespace}/${name}`;
  for (const { kind, namespace, name, effect } of planned) {
    const own = { kind, namespace, name, effect };
    found.set(keyOf(own), own);
  }
  const inFile = new Set(found.keys());
  for (const { namespace, consequences, ...object } of planned) {
    // An object that only reaches others is counted by them.
    if (object.effect.type === "nothing" && consequences.length > 0) found.delete(keyOf({ namespace, ...object }));
    for (const { kind, name, effect } of consequences) {
      const one = { kind, namespace, name, effect };
      const before = found.get(keyOf(one));
      const isWorse = before === undefined || SEVERITY.indexOf(effect.type) < SEVERITY.indexOf(before.effect.type);
      if (isWorse && !inFile.has(keyOf(one))) found.set(keyOf(one), one);
    }
  }
  return [...found.values()];
}
