// What a mutant is, and the two kinds of test that kill one: an exploration that meets a broken invariant, and a test of one guard.

export interface Mutant {
  readonly name: string;
  /** Where, below src/engine. */
  readonly file: string;
  /** Occurs exactly once. */
  readonly find: string;
  readonly replace: string;
  readonly killedBy: {
    readonly file: string;
    /** Part of the test's name. */
    readonly test: string;
    /** What the failure must contain: for the explorer, the invariant. */
    readonly reason: string;
  };
}

/** Killed by an exploration that finds a state in which the invariant does not hold. */
export function explored(profile: string, invariant: string): Mutant["killedBy"] {
  return { file: "test/model/engine-explorer.test.ts", test: `${profile}:`, reason: `Violation: ${invariant}:` };
}

export function guarded(test: string, reason: string): Mutant["killedBy"] {
  return { file: "test/model/engine-guards.test.ts", test, reason };
}
