// The effect of a change, as data. A plan is a list of effects; render-plan.ts prints it, -o json prints it as it is.
import type { FieldDifference } from "../../engine/drift/find-drift.ts";

export type Effect =
  | { readonly type: "nothing" }
  /** Takes effect at once: no pod is replaced. */
  | { readonly type: "live"; readonly settings: readonly string[] }
  | { readonly type: "creates"; readonly what: string }
  /** A new generation, or new pods of a component. */
  | {
      readonly type: "rolls";
      readonly what: string;
      readonly fields: readonly FieldDifference[];
      readonly how: readonly string[];
    }
  /** Accepted, but waits for another object. */
  | { readonly type: "waits"; readonly reason: string; readonly message: string }
  | { readonly type: "refused"; readonly by: "API server" | "operator"; readonly problems: readonly string[] };

export interface PlannedEffect {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly effect: Effect;
  /** Effects on other objects: engines of a class or of an instance. */
  readonly consequences: readonly { readonly kind: string; readonly name: string; readonly effect: Effect }[];
  readonly warnings: readonly string[];
}

/** One affected object, listed once however many changes affect it. */
export interface Affected {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly effect: Effect;
}

/** Most important first. */
const SEVERITY: readonly Effect["type"][] = ["refused", "rolls", "waits", "creates", "live", "nothing"];

/**
 * All affected objects: those of the file, and the engines that they affect. An engine that is in the file itself is
 * listed with the effect of its own manifest, which is planned with the class and the instance of the file.
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
    // An object that only affects others is not listed itself.
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
