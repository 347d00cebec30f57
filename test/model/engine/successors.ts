// Everything that can happen next in a state: fair steps for nothing, disturbances and faults for one each, and the
// operator's pass in all its variants (whole, cut by a crash, rejected, without a response, halted between two calls).

import type { Plan } from "./calls.ts";
import { checkPass } from "./checks.ts";
import type { Cluster, Kind } from "./cluster.ts";
import { type Disturbance, happenings } from "./disturbances.ts";
import { fairSteps, later } from "./environment.ts";
import { describePass, type PassRecord, runPass } from "./run-pass.ts";
import { type Lag, type System, seenThrough, touchedAfter } from "./system.ts";

export interface Menu {
  readonly disturbances: readonly Disturbance[];
  /** The process may die after any write. */
  readonly crashes: boolean;
  /** Any call may be rejected, and any write may take effect without a response. */
  readonly faults: boolean;
  /**
   * A pass may halt before any call, and continue later with all it had left to do, as if no other process had led in
   * between.
   */
  readonly pauses: boolean;
  /** Watches that may stand still for nothing, one or one group at a time. */
  readonly freeStalls?: readonly (readonly Kind[])[];
  /** Watches of a standby that may stand still together before it is elected. */
  readonly standbys?: readonly (readonly Kind[])[];
}

export interface Successor {
  readonly label: string;
  readonly cost: 0 | 1;
  readonly system: System;
  /** The pass that was run to its end. */
  readonly pass?: PassRecord;
}

export type Visit = (successor: Successor) => Promise<void> | void;

/** Nothing but what is fair. */
export const NO_DISTURBANCE: Menu = { disturbances: [], crashes: false, faults: false, pauses: false };

/** `key` identifies the state, for passes that halt in it. */
export async function visitSuccessors(system: System, key: string, menu: Menu, visit: Visit): Promise<void> {
  const { cluster, lag } = system;
  for (const step of fairSteps(cluster))
    await visit({ ...step, cost: 0, system: { ...system, cluster: step.cluster } });
  for (const kind of Object.keys(lag))
    await visit({ label: `the watch of ${kind} catches up`, cost: 0, system: { ...system, lag: without(lag, kind) } });
  if (waitsForTime(cluster))
    await visit({ label: "time passes", cost: 0, system: { ...system, cluster: later(cluster) } });
  for (const next of processSteps(system, menu)) await visit(next);
  await visitPass(system, key, menu, visit);
  if (system.paused !== undefined) await visitResumed(system, visit);
  for (const which of menu.disturbances)
    for (const happening of happenings(system, which)) await visit({ ...happening, cost: 1 });
}

/** Whether the clock matters to the next pass. */
export function waitsForTime({ engine, settings }: Cluster): boolean {
  const { heldRollout, drainingSince, autoStopReason } = engine?.status ?? {};
  return (
    heldRollout !== undefined ||
    (drainingSince !== undefined && settings.settleMs > 0) ||
    (autoStopReason !== undefined && autoStopReason !== "Disabled")
  );
}

function* processSteps(system: System, menu: Menu): Generator<Successor> {
  const { cluster, lag, standby } = system;
  const stalledAt = (view: Cluster, kinds: readonly Kind[]): Lag =>
    Object.fromEntries(kinds.map((kind) => [kind, view[kind]]));
  for (const kinds of Object.keys(lag).length === 0 ? (menu.freeStalls ?? []) : [])
    yield {
      label: `the watches of ${kinds.join(", ")} stand still`,
      cost: 0,
      system: { ...system, lag: stalledAt(seenThrough(cluster, lag), kinds) },
    };
  for (const kinds of standby === undefined && Object.keys(lag).length === 0 ? (menu.standbys ?? []) : [])
    yield {
      label: `the watches of ${kinds.join(", ")} of a standby stand still`,
      cost: 0,
      system: { ...system, standby: stalledAt(cluster, kinds) },
    };
  if (standby === undefined) return;
  const { standby: _, ...led } = system;
  yield {
    label: "the standby is elected",
    cost: 0,
    system: { ...led, cluster: { ...cluster, storedBy: undefined }, lag: standby },
  };
}

async function visitPass(system: System, key: string, menu: Menu, visit: Visit): Promise<void> {
  const { cluster, lag } = system;
  const pass = await runPass(cluster, lag);
  checkPass(pass, system.touched);
  await visit({ label: describePass(pass), cost: 0, system: afterPass(system, pass), pass });
  for (const [at, call] of pass.calls.entries()) {
    if (menu.crashes && call.before !== call.after && at < pass.calls.length - 1)
      await visit({
        label: `the process dies after ${describePass(pass, at + 1)}`,
        cost: 1,
        system: {
          ...system,
          cluster: { ...call.after, storedBy: undefined },
          lag: {},
          touched: touchedAfter(system.touched, call.after, pass.calls.slice(0, at + 1)),
        },
      });
    if (menu.faults) {
      await visitFault(system, { fault: { at, kind: "refused" } }, visit);
      if (call.request.type !== "read") await visitFault(system, { fault: { at, kind: "lost" } }, visit);
    }
    if (menu.pauses && system.paused === undefined)
      await visit({
        label: `a pass halts before call ${at} of ${describePass(pass)}`,
        cost: 1,
        system: {
          ...system,
          cluster: { ...call.before, storedBy: undefined },
          lag: {},
          touched: touchedAfter(system.touched, call.before, pass.calls.slice(0, at)),
          paused: {
            cluster,
            lag,
            startKey: key,
            at,
            stoppedAt: call.before,
          },
        },
      });
  }
}

async function visitFault(system: System, plan: Plan, visit: Visit): Promise<void> {
  const pass = await runPass(system.cluster, system.lag, plan);
  checkPass(pass, system.touched);
  const { at, kind } = plan.fault ?? { at: 0, kind: "" };
  await visit({ label: `${describePass(pass)}, call ${at} ${kind}`, cost: 1, system: afterPass(system, pass), pass });
}

/** The former leader continues. From then on it sees its old view, or the current state. */
async function visitResumed(system: System, visit: Visit): Promise<void> {
  const { paused, cluster } = system;
  if (paused === undefined) return;
  for (const blind of [true, false]) {
    const plan: Plan = { interrupt: { at: paused.at, cluster, blind } };
    const pass = await runPass(paused.cluster, paused.lag, plan);
    checkPass(pass, system.touched, paused.at);
    const touched = touchedAfter(system.touched, pass.cluster, pass.calls.slice(paused.at));
    await visit({
      label: `the halted pass continues${blind ? " with its old view" : ""}: ${describePass(pass)}`,
      cost: 0,
      system: { ...system, cluster: { ...pass.cluster, storedBy: cluster.storedBy }, paused: undefined, touched },
    });
  }
}

export function afterPass(system: System, { cluster, lag, calls }: PassRecord): System {
  return { ...system, cluster, lag, touched: touchedAfter(system.touched, cluster, calls) };
}

export function without(lag: Lag, kind: string): Lag {
  return Object.fromEntries(Object.entries(lag).filter(([name]) => name !== kind));
}
