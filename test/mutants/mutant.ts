// What a mutant is, and the kinds of test that kill one: an exploration that meets a broken invariant, a test of one
// guard, and a unit test beside the code.
import type { InvariantName } from "../design/invariant-names.ts";

export interface Mutant {
  readonly name: string;
  /**
   * From the root of the repository (`packages/kube/src/controller/worker.ts`); without `src/` or `packages/` in front,
   * below src/engine.
   */
  readonly file: string;
  /** Occurs exactly once. */
  readonly find: string;
  readonly replace: string;
  readonly killedBy: {
    readonly file: string;
    /** Part of the test's full name (that of its `describe` blocks included), as it is: no pattern. */
    readonly test: string;
    /** What the failure must contain: for the explorer, the invariant. */
    readonly reason: string;
  };
}

/** Killed by an exploration that finds a state in which the invariant does not hold. */
export function explored(profile: string, invariant: InvariantName): Mutant["killedBy"] {
  return { file: "test/model/engine-explorer.test.ts", test: `${profile}:`, reason: `Violation: ${invariant}:` };
}

export function guarded(test: string, reason: string): Mutant["killedBy"] {
  return { file: "test/model/engine-guards.test.ts", test, reason };
}

/** Killed by a unit test; the file is that of the test, from the root of the repository. */
export function unit(file: string, test: string, reason: string): Mutant["killedBy"] {
  return { file, test, reason };
}
