// One long random walk: moves are numbers whose meaning depends on the state. Crashes are real here: the process throws
// in the middle of a call, and its pass does not continue.
import { isDeepStrictEqual } from "node:util";
import { CrashError, type Fault, type Plan } from "./calls.ts";
import { checkPass, checkState, Violation, withPrologue } from "./checks.ts";
import { DISTURBANCES, happenings } from "./disturbances.ts";
import { fairSteps, later } from "./environment.ts";
import { FairRuns } from "./fair-run.ts";
import { describePass, runPass } from "./run-pass.ts";
import { afterPass, without } from "./successors.ts";
import type { System } from "./system.ts";

/** Labels that get lost several times in one story are beyond what is promised (docs/verification.md). */
const MIXED = DISTURBANCES.filter((which) => which !== "labels");

export interface Move {
  readonly type: "pass" | Fault | "step" | "disturb" | "catchUp" | "later";
  readonly pick: number;
}

/** Throws, with the story, at the first invariant that does not hold on the way or in the fair run at the end. */
export async function walk(start: System, moves: readonly Move[]): Promise<void> {
  const story: string[] = [];
  try {
    let system = start;
    for (const move of moves) {
      const next = await moved(system, move);
      if (next === undefined) continue;
      story.push(next.label);
      checkState(next.system);
      system = next.system;
    }
    await new FairRuns().check(system);
  } catch (error) {
    throw withPrologue(error, story);
  }
}

interface Moved {
  readonly label: string;
  readonly system: System;
}

/** Undefined when the move means nothing in this state. */
async function moved(system: System, { type, pick }: Move): Promise<Moved | undefined> {
  switch (type) {
    case "pass":
      return passed(system, {});
    case "refused":
    case "lost":
    case "crashBefore":
    case "crashAfter":
      return passed(system, { fault: { at: pick % 6, kind: type } });
    case "step": {
      const step = picked(fairSteps(system.cluster), pick);
      return step === undefined ? undefined : { label: step.label, system: { ...system, cluster: step.cluster } };
    }
    case "disturb": {
      const which = MIXED[pick % MIXED.length];
      return which === undefined ? undefined : picked([...happenings(system, which)], Math.floor(pick / MIXED.length));
    }
    case "later":
      return { label: "time passes", system: { ...system, cluster: later(system.cluster) } };
    case "catchUp": {
      const kind = picked(Object.keys(system.lag), pick);
      return kind === undefined
        ? undefined
        : { label: `the watch of ${kind} catches up`, system: { ...system, lag: without(system.lag, kind) } };
    }
    default:
      return type satisfies never;
  }
}

async function passed(system: System, plan: Plan): Promise<Moved> {
  const pass = await runPass(system.cluster, system.lag, plan);
  checkPass(pass, system.touched);
  const again = await runPass(system.cluster, system.lag, plan);
  if (!isDeepStrictEqual(again.calls, pass.calls))
    throw new Violation("same-view-same-decision", "the same pass decides differently");
  const isDead = pass.outcome instanceof CrashError;
  const after = afterPass(system, pass);
  const { fault } = plan;
  const label = fault === undefined ? describePass(pass) : `${describePass(pass)}, call ${fault.at} ${fault.kind}`;
  // A restarted process lists everything first.
  return { label, system: isDead ? { ...after, cluster: { ...after.cluster, storedBy: undefined }, lag: {} } : after };
}

function picked<T>(list: readonly T[], pick: number): T | undefined {
  return list[pick % list.length];
}
