// How soon a fleet reacts to a change that concerns all of it: an instance that becomes ready while every engine waits
// for it, and an edit of the class of every engine. Measured from the change to the first step of each engine, and
// until all are stable.
import { silentLogger } from "@firebolt-operator/kube";
import { createObjectCache } from "@firebolt-operator/kube/cache";
import { FireboltEngineClass } from "../../src/api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { engineClass as classManifest, instance as instanceManifest } from "../../test/harness/fixtures/manifests.ts";
import {
  type EngineCheck,
  type EngineFleet,
  engineNames,
  INSTANCE,
  image,
  isReadyOn,
  openFleet,
} from "./engine-fleet.ts";
import { openSightings } from "./first-events.ts";
import { FLEET_NAMESPACE, type Harness, openHarness, type Progress } from "./harness.ts";
import { startOwnOperator } from "./operator.ts";
import { type Percentiles, percentiles } from "./percentiles.ts";
import { measure, type PhaseResult } from "./phases.ts";

export interface Reaction {
  readonly engines: number;
  /** Milliseconds from the change to the first observable step of each engine. */
  readonly firstStep: Percentiles;
  /** Until all are stable again. */
  readonly whole: PhaseResult;
}

export interface Reactions {
  readonly instanceReady: Reaction;
  readonly classEdit: Reaction;
}

/** Time of the first observable step of an engine. */
type StepTime = (engine: string) => number | undefined;

const CLASS = "shared";
const waitsForInstance: EngineCheck = ({ status }) =>
  status?.conditions?.some(({ type, reason }) => type === "Ready" && reason === "InstanceNotReady") === true;

export async function measureReactions(progress: Progress, engines: number): Promise<Reactions> {
  await using harness = await openHarness({ progress });
  await using operator = await startOwnOperator(harness);
  await operator.untilLeading();
  await using fleet = await openFleet(harness);
  await using sightings = await openSightings(harness);
  const { client } = harness;
  const names = engineNames(engines);
  const timeoutMs = 120_000 + engines * 2_000;
  const awaited = (describe: string) => ({ describe, timeoutMs, assertRunning: operator.assertRunning });
  const metadata = { namespace: FLEET_NAMESPACE, name: CLASS };
  await client.create(FireboltEngineClass, classManifest(metadata) as FireboltEngineClass);
  await fleet.create(names, { engineClassRef: CLASS });
  await fleet.until(names, waitsForInstance, awaited("waiting for the instance"));

  const react = async (change: () => Promise<number>, generation: number, stepMs: StepTime): Promise<Reaction> => {
    let sinceMs = 0;
    const action = async (): Promise<void> => {
      sinceMs = await change();
      await fleet.until(names, isReadyOn(generation), awaited(`on generation ${generation}`));
    };
    const whole = await measure(harness, operator, action);
    const steps = names.map((name) => {
      const seenMs = stepMs(name);
      if (seenMs === undefined)
        throw new Error(`${name} is on generation ${generation}, and its first step was not observed`);
      return seenMs - sinceMs;
    });
    return { engines, firstStep: percentiles(steps), whole };
  };
  progress("the instance becomes ready");
  const instanceReady = await react(
    async () => {
      const ready = instanceShowsAddress(harness);
      const manifest = instanceManifest({ name: INSTANCE, namespace: FLEET_NAMESPACE });
      await client.create(FireboltInstance, manifest as FireboltInstance);
      return ready;
    },
    0,
    // The status changes only when all objects exist: the first object shows the step sooner.
    (name) => sightings.statefulSetMs(name, 0),
  );
  progress("the class is edited");
  const bumped = firstSeen(fleet, ({ status }) => status?.currentGeneration === 1);
  const classEdit = await react(
    async () => {
      const sinceMs = performance.now();
      await client.patch(FireboltEngineClass, metadata, { type: "merge", body: { spec: image("by-class") } });
      return sinceMs;
    },
    1,
    (name) => bumped.get(name),
  );
  return { instanceReady, classEdit };
}

/** When each engine first passed the check, from now on. */
function firstSeen(fleet: EngineFleet, check: EngineCheck): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  fleet.engines.onEvent(({ object }) => {
    const name = object.metadata?.name ?? "";
    if (!times.has(name) && check(object)) times.set(name, performance.now());
  });
  return times;
}

/** Time at which the status of the instance first has the address of its metadata service, which engines wait for. */
async function instanceShowsAddress({ client }: Harness): Promise<number> {
  const cache = createObjectCache<FireboltInstance>({
    client,
    type: FireboltInstance,
    logger: silentLogger,
    namespaces: [FLEET_NAMESPACE],
  });
  const stop = new AbortController();
  const { promise, resolve } = Promise.withResolvers<number>();
  cache.onEvent(({ object }) => {
    if (object.status?.metadataEndpoint !== undefined && object.status.metadataEndpoint !== "")
      resolve(performance.now());
  });
  const running = cache.run(stop.signal);
  const atMs = await promise;
  stop.abort();
  await running;
  return atMs;
}
