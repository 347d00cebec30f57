// Applies every named invariant to a state or to a pass. The first that does not hold is thrown.
import { type InvariantName, isInvariantName } from "../../design/invariant-names.ts";
import { PASS_INVARIANTS } from "./pass-invariants.ts";
import { describePass, type PassRecord } from "./run-pass.ts";
import { STATE_INVARIANTS } from "./state-invariants.ts";
import { type System, type Touched, touchedAfter } from "./system.ts";
import { WRITE_INVARIANTS } from "./write-invariants.ts";

/** A named invariant does not hold; `story` lists what led there. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly invariant: InvariantName;
  readonly detail: string;
  readonly story: readonly string[];

  constructor(invariant: InvariantName, detail: string, story: readonly string[] = []) {
    const lines = story.map((line, index) => `\n${String(index).padStart(3)}. ${line}`);
    super(`${invariant}: ${detail}${lines.join("")}`);
    this.invariant = invariant;
    this.detail = detail;
    this.story = story;
  }
}

/** The error, with what came before it if it is a violation. */
export function withPrologue(error: unknown, prologue: readonly string[]): unknown {
  if (!(error instanceof Violation)) return error;
  return new Violation(error.invariant, error.detail, [...prologue, ...error.story]);
}

const STATES = checksOf(STATE_INVARIANTS);
const WRITES = checksOf(WRITE_INVARIANTS);
const PASSES = checksOf(PASS_INVARIANTS);

/** In the order of the table. */
function checksOf<T>(table: Readonly<Partial<Record<InvariantName, T>>>): readonly (readonly [InvariantName, T])[] {
  return Object.entries<T>(table).flatMap(([name, check]) => (isInvariantName(name) ? [[name, check] as const] : []));
}

export function checkState(system: System): void {
  for (const [name, check] of STATES) complain(name, check(system));
}

/**
 * Single writes, then the state after each, then the pass as a whole. `from`: the first call that has not been checked
 * yet.
 */
export function checkPass(pass: PassRecord, touched: Touched, from = 0): void {
  try {
    for (const call of from === 0 ? pass.calls : pass.calls.slice(from))
      for (const [name, check] of WRITES) complain(name, check(call, pass));
    for (const [at, { before, after, lag }] of pass.calls.entries())
      if (at >= from && before !== after)
        checkState({
          cluster: after,
          lag,
          touched: touchedAfter(touched, after, pass.calls.slice(from, at + 1)),
          paused: undefined,
        });
    for (const [name, check] of PASSES) complain(name, check(pass));
  } catch (error) {
    throw withPrologue(error, [describePass(pass)]);
  }
}

function complain(invariant: InvariantName, detail: string | undefined): void {
  if (detail !== undefined) throw new Violation(invariant, detail);
}
