// One fault as one test: its turn in its place, its scene, its run, and its figures.
import { inject } from "vitest";
import { FireboltEngine } from "../../../../src/api/engine.ts";
import { recordFigures } from "../../../support/e2e-figures.ts";
import type { Fault, Place } from "./fault.ts";
import { setScene } from "./places.ts";
import { runFault, type Times } from "./run-fault.ts";

const turns = new Map<Place, Promise<unknown>>();
const times = new Map<string, Times>();

/** Runs beside the faults of other places, and after those of its own that came before it. */
export async function takeTurn(fault: Fault): Promise<void> {
  if (fault.place.together === true) return runInScene(fault);
  const before = turns.get(fault.place) ?? Promise.resolve();
  // The next one gets its turn whatever becomes of this one.
  const own = before.then(
    () => runInScene(fault),
    () => runInScene(fault),
  );
  turns.set(fault.place, own);
  return own;
}

async function runInScene(fault: Fault): Promise<void> {
  const startedMs = performance.now();
  try {
    const { seenMs, healedMs } = await runOnce(fault);
    tell(`${fault.name}: seen after ${seconds(seenMs)} s, healed after ${seconds(healedMs)} s`);
  } catch (error) {
    tell(`${fault.name}: failed after ${seconds(performance.now() - startedMs)} s: ${error}`);
    throw error;
  }
}

async function runOnce(fault: Fault): Promise<Times> {
  using scene = await setScene(inject("e2e"), fault);
  const took = await runFault(fault, scene);
  times.set(fault.name, took);
  // Its pods have no more to do, and the node has other faults to run.
  if (fault.place.together === true || fault.engine === undefined) return took;
  const { client, call } = scene.cluster;
  const key = { namespace: scene.namespace, name: scene.engine };
  if ((await client.find(FireboltEngine, key, call)) !== undefined) await client.delete(FireboltEngine, key, call);
  return took;
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10;

/** Minutes pass: say where it is. */
const tell = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Seconds until each fault was seen, and until it had healed. */
export function recordTimes(scenario: string): void {
  const shown = [...times].map(([name, { seenMs, healedMs }]) => `${name} ${seconds(seenMs)}/${seconds(healedMs)}`);
  recordFigures(inject("e2e").figures, scenario, { faults: times.size, seenAndHealedSeconds: shown.join(", ") });
}
