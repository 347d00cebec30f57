// Counts what engines cost the API server: from creation to Ready, for one graceful roll, at rest, for a stop and a deletion. The
// operator runs in this process; every request of its client counts (events too), except watches. A lease has a client of its own
// and is not among them.

import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { RequestInfo } from "@firebolt-operator/kube/client";
import { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import { eventually } from "../../harness/control-plane/requests.ts";
import type { EngineOperator } from "../../harness/operator/engine-operator-in-process.ts";
import { REPEATED_EVERY_MS, REPEATED_REQUESTS } from "../../harness/operator/repeated-requests.ts";
import { type EngineHarness, image } from "./engine-harness.ts";

/** The most requests per engine. */
export const REQUEST_BUDGET = { create: 10, roll: 17, idle: 0, stop: 17, delete: 6 } as const;

const IDLE_LOOKS = 10;
const LOOK_MS = 10;

interface Phase {
  readonly wallMs: number;
  readonly asked: readonly RequestInfo[];
}

export interface RequestCounts {
  readonly engines: number;
  /** Several reads of one engine count once. */
  readonly createPerEngine: number;
  readonly createMs: number;
  readonly rollPerEngine: number;
  readonly rollMs: number;
  readonly stopPerEngine: number;
  readonly deletePerEngine: number;
  readonly idleSeconds: number;
  readonly idleRequests: number;
  /** What the requests were, per engine: `patch fireboltengines.compute.firebolt.io` and so on. */
  readonly create: Readonly<Record<string, number>>;
  readonly roll: Readonly<Record<string, number>>;
  readonly stop: Readonly<Record<string, number>>;
  readonly delete: Readonly<Record<string, number>>;
}

export interface CountOptions {
  readonly engines: number;
  readonly idleMs: number;
  readonly progress?: (line: string) => void;
}

/**
 * The harness has an instance and no operator yet. Engines with one replica; drain checks are on and get a response.
 */
export async function countEngineRequests(harness: EngineHarness, options: CountOptions): Promise<RequestCounts> {
  const { engines, idleMs, progress = () => undefined } = options;
  const operator = await harness.operator();
  const names = Array.from({ length: engines }, (_, index) => `e${index}`);
  const phase = async (
    start: (name: string) => Promise<unknown>,
    end: (name: string) => Promise<unknown>,
  ): Promise<Phase> => {
    const [before, startedMs] = [operator.requests.length, performance.now()];
    await Promise.all(names.map(start));
    await Promise.all(names.map(end));
    const wallMs = Math.round(performance.now() - startedMs);
    // Events are written a moment after their cause.
    await quiet(operator);
    return { wallMs, asked: operator.requests.slice(before) };
  };
  const settled = (generation: number) => (name: string) => harness.settled(name, generation, 120_000);
  const created = await phase((name) => harness.createEngine(name, { replicas: 1 }), settled(0));
  progress(`${engines} engines Ready after ${created.wallMs} ms, ${created.asked.length} requests`);
  const rolled = await phase((name) => harness.edit(name, image("two")), settled(1));
  progress(`all rolled after ${rolled.wallMs} ms, ${rolled.asked.length} requests`);
  const before = operator.requests.length;
  await sleep(idleMs);
  const idle = operator.requests.slice(before);
  progress(`${idleMs / 1_000} s at rest: ${idle.length} requests`);
  const stopped = await phase((name) => harness.edit(name, { replicas: 0 }), settled(2));
  progress(`all stopped after ${stopped.wallMs} ms, ${stopped.asked.length} requests`);
  const gone = (name: string) =>
    eventually(() => harness.history.latest("FireboltEngine", name) === undefined, { timeoutMs: 120_000 });
  const deleted = await phase(
    (name) => harness.client.delete(FireboltEngine, { namespace: harness.namespace, name }),
    gone,
  );
  const perEngine = ({ asked, wallMs }: Phase): number => {
    const looks = asked.filter(({ verb, resource }) => REPEATED_REQUESTS.has(`${verb} ${resource}`)).length / engines;
    if (looks > 1 + wallMs / REPEATED_EVERY_MS) throw new Error(`${looks} looks per engine within ${wallMs} ms`);
    return asked.length / engines - looks + Math.min(looks, 1);
  };
  progress(`all deleted after ${deleted.wallMs} ms, ${deleted.asked.length} requests`);
  return {
    engines,
    createPerEngine: perEngine(created),
    createMs: created.wallMs,
    rollPerEngine: perEngine(rolled),
    rollMs: rolled.wallMs,
    stopPerEngine: perEngine(stopped),
    deletePerEngine: perEngine(deleted),
    idleSeconds: idleMs / 1_000,
    idleRequests: idle.length,
    create: byKind(created.asked, engines),
    roll: byKind(rolled.asked, engines),
    stop: byKind(stopped.asked, engines),
    delete: byKind(deleted.asked, engines),
  };
}

/** Resolves when no request was sent for a second, and none is in flight. */
async function quiet(operator: EngineOperator): Promise<void> {
  const { requests } = operator;
  for (let seen = -1; seen !== requests.length; ) {
    seen = requests.length;
    await sleep(1_000);
    await untilIdle(operator);
  }
}

/** Resolves when the operator was seen idle several times in a row. */
export async function untilIdle({ isIdle }: EngineOperator): Promise<void> {
  for (let looks = 0; looks < IDLE_LOOKS; ) {
    await sleep(LOOK_MS);
    // What came in while the machine stood still is read after the timers have fired: it must count before the look.
    await nextTurn();
    looks = (await isIdle()) ? looks + 1 : 0;
  }
}

function byKind(requests: readonly RequestInfo[], engines: number): Readonly<Record<string, number>> {
  const counts = Map.groupBy(requests, ({ verb, resource }) => `${verb} ${resource}`);
  return Object.fromEntries([...counts].map(([kind, found]) => [kind, found.length / engines]));
}
