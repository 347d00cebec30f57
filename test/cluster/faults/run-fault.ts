// Runs one fault from its making until it has healed. Whatever does not come true within its time fails with what was waited for and
// what was seen instead.
import { expect } from "vitest";
import { withAccessLog } from "../support/access-log.ts";
import { gatewayOf } from "../support/cluster-harness.ts";
import { type Load, startLoad } from "../support/load.ts";
import { describeFailures } from "../support/load-tally.ts";
import type { Fault, Made, Scene } from "./fault.ts";
import { look, missingSigns, PASSING, type Seen, showSeen, type View } from "./signs.ts";
import { until } from "./wait.ts";

/** The promise: the cause is visible within two minutes, unless the machine is too busy to do anything (wait.ts). */
const SEEN_MS = 120_000;
const HEALED_MS = 120_000;
/** Enough to notice a gap of a second, few enough for thirty faults side by side. */
const QUERIES_PER_SECOND = 5;
/** Answers before a fault is made: the engine serves and the gateways know it. */
const WARM = 5;
/** What the gateway responds for an engine without a pod. */
const RETRY = /^engine is not available; retry shortly$/;

export interface Outcome {
  readonly seenMs: number;
  readonly healedMs: number;
  /** As people saw it. */
  readonly seen: string;
}

export async function runFault(fault: Fault, scene: Scene): Promise<Outcome> {
  const load = fault.load === true ? await startQueries(scene) : undefined;
  try {
    load?.phase("made");
    const startedMs = performance.now();
    const view = { subject: fault.subject ?? "engine", sinceMs: Date.now() } as const;
    const made = await fault.make(scene);
    const seen = await untilSeen(fault, scene, made, view).catch((error: unknown) => failMended(error, made));
    const seenMs = performance.now() - startedMs;
    load?.phase("mended");
    const mendedMs = performance.now();
    await made.mend?.();
    await untilHealed(fault, scene, made, view);
    const healedMs = performance.now() - mendedMs;
    if (load !== undefined) await expectAnswered(load, fault, scene);
    return { seenMs: Math.round(seenMs), healedMs: Math.round(healedMs), seen: showSeen(seen) };
  } finally {
    await load?.stop();
  }
}

/** The next fault of the place must find it whole. */
async function failMended(error: unknown, { mend }: Made): Promise<never> {
  const [outcome] = await Promise.allSettled([mend?.()]);
  if (outcome.status === "rejected") throw new AggregateError([error, outcome.reason], String(error));
  throw error;
}

/** Shown, and still shown when it has lasted. */
async function untilSeen(fault: Fault, scene: Scene, made: Made, view: View): Promise<Seen> {
  const seen = await untilShown(fault, scene, made, view);
  if (made.outlast === undefined) return seen;
  await made.outlast();
  return untilShown(fault, scene, made, view);
}

function untilShown(fault: Fault, scene: Scene, { refusal = "" }: Made, view: View): Promise<Seen> {
  let last: Seen | undefined;
  const check = async (): Promise<Seen> => {
    const seen = await look(scene, { ...view, refusal });
    last = seen;
    const missing = missingSigns(fault.signs, seen);
    if (missing.length > 0) throw new Error(`missing: ${missing.join("; ")}`);
    return seen;
  };
  return until(`the signs of ${fault.name}`, check, SEEN_MS).catch((error: unknown) => fail(error, last));
}

/** Recovered also means that neither the conditions nor the tree mention it any longer. */
async function untilHealed(fault: Fault, scene: Scene, made: Made, view: View): Promise<void> {
  const lookNow = (): Promise<Seen> => look(scene, view);
  const check = async (): Promise<void> => {
    await made.healed();
    const passing = PASSING.filter((sign) => fault.signs[sign] !== undefined);
    const gone = missingSigns(fault.signs, await lookNow(), passing);
    if (gone.length < passing.length) throw new Error("its signs are still there");
  };
  await until(`the end of ${fault.name}`, check, HEALED_MS).catch(async (error: unknown) =>
    fail(error, await lookNow()),
  );
}

function fail(error: unknown, seen: Seen | undefined): never {
  const why = error instanceof Error ? error.message : String(error);
  throw new Error(`${why}\n${seen === undefined ? "(nothing could be read)" : showSeen(seen)}`, { cause: error });
}

async function startQueries({ cluster, namespace, instance, engine }: Scene): Promise<Load> {
  const gateway = await gatewayOf(cluster, { namespace, instance });
  const load = startLoad({ gateway, engine, perSecond: QUERIES_PER_SECOND, longEveryMs: 0 });
  try {
    await until(`responses of ${engine}`, async () => expect(load.tally.succeeded).toBeGreaterThanOrEqual(WARM));
    return load;
  } catch (error) {
    await load.stop();
    throw error;
  }
}

async function expectAnswered(load: Load, { mayRetry }: Fault, { api, namespace, instance }: Scene): Promise<void> {
  await load.stop();
  const lost = load.tally.failures.filter(({ why }) => mayRetry !== true || !RETRY.test(why));
  const failures = await withAccessLog({ api, namespace, instance }, lost);
  expect(failures.length, describeFailures(failures)).toBe(0);
  expect(load.tally.onTheirWay).toBe(0);
}
