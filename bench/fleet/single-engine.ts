// One engine alone on a quiet cluster, again and again: how long from its creation to Ready and from an edit to the
// next generation, without the start of its pod (from the first event of the StatefulSet until the pod is ready).
import { setTimeout as sleep } from "node:timers/promises";
import { createInstance, type EngineFleet, image, isReadyOn, openFleet } from "./engine-fleet.ts";
import { openSightings, type Sightings } from "./first-events.ts";
import { openHarness, type Progress } from "./harness.ts";
import { startOwnOperator } from "./operator.ts";
import { type Percentiles, percentiles } from "./percentiles.ts";

export interface SingleEngine {
  /** Milliseconds, without the start of the pods. */
  readonly create: Percentiles;
  readonly roll: Percentiles;
  /** The start of the pods. */
  readonly podStart: Percentiles;
}

const DEADLINE_MS = 60_000;
/** Pause between two measurements, so that the deletion of one does not affect the next. */
const CALM_MS = 300;

export async function measureSingleEngine(progress: Progress, rounds: number): Promise<SingleEngine> {
  await using harness = await openHarness({ progress });
  await using operator = await startOwnOperator(harness);
  await operator.untilLeading();
  await createInstance(harness);
  await using fleet = await openFleet(harness);
  await using sightings = await openSightings(harness);
  const [create, roll, pod]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    const name = `single${round}`;
    for (const [generation, results, act] of [
      [0, create, () => fleet.create([name])],
      [1, roll, () => fleet.edit([name], image("next"))],
    ] as const) {
      const wholeMs = await timed(fleet, name, { generation, act, assertRunning: operator.assertRunning });
      const podMs = podTime(sightings, name, generation);
      results.push(wholeMs - podMs);
      pod.push(podMs);
    }
    await fleet.remove([name]);
    await fleet.untilGone([name], { describe: `${name} gone`, timeoutMs: DEADLINE_MS });
    await sleep(CALM_MS);
    if ((round + 1) % 10 === 0) progress(`${round + 1} of ${rounds} rounds`);
  }
  return { create: percentiles(create), roll: percentiles(roll), podStart: percentiles(pod) };
}

interface Timed {
  readonly generation: number;
  readonly act: () => Promise<void>;
  readonly assertRunning: () => void;
}

async function timed(fleet: EngineFleet, name: string, { generation, act, assertRunning }: Timed): Promise<number> {
  const startedMs = performance.now();
  await act();
  const describe = `${name} on generation ${generation}`;
  await fleet.until([name], isReadyOn(generation), { describe, timeoutMs: DEADLINE_MS, assertRunning });
  return performance.now() - startedMs;
}

function podTime(sightings: Sightings, name: string, generation: number): number {
  const [from, to] = [sightings.statefulSetMs(name, generation), sightings.podReadyMs(name, generation)];
  if (from === undefined || to === undefined) throw new Error(`${name} became ready without a pod`);
  // Two watches: the event of the pod may come before that of the StatefulSet.
  return Math.max(0, to - from);
}
