// One fault as one test: its turn in its place, its scene, its run, and its figures.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inject } from "vitest";
import { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import { recordFigures } from "../support/figures.ts";
import { FAULTS } from "./all-faults.ts";
import type { Fault, FaultTarget } from "./fault.ts";
import { type Outcome, runFault } from "./run-fault.ts";
import { removeInstance, setScene } from "./targets.ts";
import { createGate } from "./wait.ts";

/** Faults at the same time. More of them would keep two processors busy with starting pods, and nothing would be seen in time. */
const gate = createGate(4);
const turns = new Map<FaultTarget, Promise<unknown>>();
/** Those that are not over yet. */
const left = new Set(FAULTS);
const times = new Map<string, Outcome>();

/** Runs beside the faults of other places, and after those of its own that came before it. */
export async function takeTurn(fault: Fault): Promise<void> {
  const before = turns.get(fault.target);
  // Others wait behind those that had to wait for their turn: the longest row decides when all of them are done.
  const run = () => gate(() => runInScene(fault), before !== undefined && fault.target.together !== true);
  if (before === undefined || fault.target.together === true) return begin(fault, run());
  // The next one gets its turn whatever becomes of this one.
  return begin(fault, before.then(run, run));
}

function begin({ target }: Fault, running: Promise<void>): Promise<void> {
  turns.set(target, running);
  return running;
}

async function runInScene(fault: Fault): Promise<void> {
  const startedMs = performance.now();
  try {
    const { seenMs, healedMs } = await runOnce(fault);
    tell(`${fault.name}: seen after ${seconds(seenMs)} s, healed after ${seconds(healedMs)} s`);
  } catch (error) {
    tell(`${fault.name}: failed after ${seconds(performance.now() - startedMs)} s: ${error}`);
    throw error;
  } finally {
    left.delete(fault);
    const isLast = ![...left].some(({ target }) => target === fault.target);
    // Its pods have no more to do, and the node has other faults to run.
    if (isLast) await removeInstance(inject("e2e"), fault.target);
  }
}

async function runOnce(fault: Fault): Promise<Outcome> {
  using scene = await setScene(inject("e2e"), fault);
  const took = await runFault(fault, scene);
  times.set(fault.name, took);
  keepSeen(fault, took);
  // Its pods have no more to do, and the node has other faults to run.
  const { client, call } = scene.cluster;
  const key = { namespace: scene.namespace, name: scene.engine };
  if ((await client.find(FireboltEngine, key, call)) !== undefined) await client.delete(FireboltEngine, key, call);
  return took;
}

/** What users saw, for the documentation; stored beside the figures of the run. */
function keepSeen({ name }: Fault, { seen }: Outcome): void {
  const folder = join(dirname(inject("e2e").figures), "faults");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.txt`), `${seen}\n`);
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10;

/** This takes minutes: report progress. */
const tell = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Seconds until each fault was seen, and until it had healed. */
export function recordTimes(scenario: string): void {
  const shown = [...times].map(([name, { seenMs, healedMs }]) => `${name} ${seconds(seenMs)}/${seconds(healedMs)}`);
  recordFigures(inject("e2e").figures, scenario, { faults: times.size, seenAndHealedSeconds: shown.join(", ") });
}
