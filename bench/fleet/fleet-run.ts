// The measurement of the budget: one fleet through its five phases, with this operator and any other program in turn,
// each on a fresh control plane, with the floor measured right before.
import { loadavg } from "node:os";
import type { Values } from "../../test/harness/helm/helm.ts";
import { createInstance, engineNames, isReadyOn, openFleet } from "./engine-fleet.ts";
import { type Floor, type FloorTemplate, measureFloor, readTemplate } from "./floor.ts";
import { FLEET_NAMESPACE, type Harness, openHarness, type Progress } from "./harness.ts";
import { type Operator, type OwnOptions, startOtherOperator, startOwnOperator } from "./operator.ts";
import { measurePhases, type Phase, type PhaseResult } from "./phases.ts";
import type { Memory } from "./process-meter.ts";
import { untilQuiet } from "./until-quiet.ts";

/** The measured program: this operator as the chart runs it, or any other as a shell command. */
export type Candidate =
  | { readonly type: "own"; readonly options: OwnOptions }
  | { readonly type: "other"; readonly command: string };

export interface FleetRunOptions {
  readonly engines: number;
  readonly idleSeconds: number;
  readonly candidate: Candidate;
  readonly progress: Progress;
}

export interface FleetRun {
  readonly name: string;
  readonly engines: number;
  readonly loadAverageBefore: number;
  readonly floor: Floor;
  readonly readyMs: number | undefined;
  readonly memoryAtStart: Memory;
  readonly phases: Readonly<Record<Phase, PhaseResult>>;
  /** Over all phases. */
  readonly peakRssMb: number;
}

/** A name that occurs nowhere else: it is replaced in the copied objects by the names of other engines. */
const SAMPLE = "sample-engine-";
const SAMPLE_MS = 120_000;

export async function runFleet(options: FleetRunOptions): Promise<FleetRun> {
  const { engines, candidate, progress } = options;
  const loadAverageBefore = Math.round((loadavg()[0] ?? 0) * 100) / 100;
  await using harness = await openHarness({ progress, values: valuesFor(candidate) });
  if (candidate.type === "other") await harness.grantEverything();
  const floor = await measureFloor(harness, await sample(harness, candidate), engines);
  progress(`floor: ${engines} engines in ${floor.createSeconds.toFixed(1)} s`);
  await using operator = await start(harness, candidate);
  await using fleet = await openFleet(harness);
  // Work at the start (events, reading the certificate) is no part of the first phase. Another program may never be
  // idle.
  if (candidate.type === "own") await untilQuiet(harness);
  const memoryAtStart = operator.meter.memory();
  progress(`${operator.name} is ready after ${operator.readyMs} ms with ${memoryAtStart.rssMb} MB`);
  const phases = await measurePhases(harness, { operator, fleet }, { engines, idleSeconds: options.idleSeconds });
  const peakRssMb = Math.max(memoryAtStart.peakRssMb, ...Object.values(phases).map((phase) => phase.peakRssMb));
  const { name, readyMs } = operator;
  return { name, engines, loadAverageBefore, floor, readyMs, memoryAtStart, phases, peakRssMb };
}

/** Another program has webhooks of its own, or none: those of this operator would deny its writes. */
const valuesFor = ({ type }: Candidate): Values => (type === "own" ? {} : { webhook: { enabled: false } });

async function start(harness: Harness, candidate: Candidate): Promise<Operator> {
  if (candidate.type === "other") return startOtherOperator(harness, candidate.command);
  const operator = await startOwnOperator(harness, candidate.options);
  await operator.untilLeading();
  return operator;
}

/** The objects that the program creates for one engine; the instance stays for the phases, the engine is deleted. */
async function sample(harness: Harness, candidate: Candidate): Promise<FloorTemplate> {
  await using operator = await start(harness, candidate);
  await using fleet = await openFleet(harness);
  const names = engineNames(1, SAMPLE);
  const awaited = { describe: "the sample", timeoutMs: SAMPLE_MS, assertRunning: operator.assertRunning };
  await createInstance(harness);
  await fleet.create(names);
  await fleet.until(names, isReadyOn(0), awaited);
  const template = await readTemplate(harness, FLEET_NAMESPACE, names[0] ?? "");
  await fleet.remove(names);
  await fleet.untilGone(names, awaited);
  return template;
}
