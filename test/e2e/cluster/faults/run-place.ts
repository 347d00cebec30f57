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
  const context = inject("e2e");
  using scene = await setScene(context, fault);
  times.set(fault.name, await runFault(fault, scene));
  // Its pods have no more to do, and the node has other faults to run.
  if (fault.place.together === true || fault.engine === undefined) return;
  const { client, call } = scene.cluster;
  const key = { namespace: scene.namespace, name: scene.engine };
  if ((await client.find(FireboltEngine, key, call)) !== undefined) await client.delete(FireboltEngine, key, call);
}

/** Seconds until each fault was seen, and until it had healed. */
export function recordTimes(scenario: string): void {
  const seconds = (ms: number): number => Math.round(ms / 100) / 10;
  const shown = [...times].map(([name, { seenMs, healedMs }]) => `${name} ${seconds(seenMs)}/${seconds(healedMs)}`);
  recordFigures(inject("e2e").figures, scenario, { faults: times.size, seenAndHealedSeconds: shown.join(", ") });
}
