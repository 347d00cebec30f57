// An idle engine stops automatically, and a hundred clients query it at the same moment: each gets its response, later
// than usual.
import { afterAll, beforeAll, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { LABEL } from "../../src/api/labels.ts";
import { watchEngineHistory } from "../engine/support/history.ts";
import { brokenInvariants } from "../engine/support/invariants.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { withAccessLog } from "./support/access-log.ts";
import {
  type ClusterHarness,
  createEngine,
  editEngine,
  openClusterHarness,
  podsOf,
  settled,
} from "./support/cluster-harness.ts";
import { recordFigures } from "./support/figures.ts";
import { startLoad } from "./support/load.ts";
import { describeFailures } from "./support/load-tally.ts";
import { INSTANCE, NAMESPACE } from "./support/platform.ts";

const NAME = "sleepy";
const IDLE_SECONDS = 6;
const CLIENTS = 100;

let harness: ClusterHarness;

beforeAll(async () => {
  harness = await openClusterHarness();
});
afterAll(async () => {
  await harness.cluster.client.delete(FireboltEngine, { namespace: NAMESPACE, name: NAME }, harness.cluster.call);
  harness[Symbol.dispose]();
});

const read = () =>
  harness.cluster.client.get(FireboltEngine, { namespace: NAMESPACE, name: NAME }, harness.cluster.call);

/**
 * Stopped by the operator, with no pod left. The reason follows the phase: the write that completes the stop still has
 * the earlier reason.
 */
async function untilAsleep(): Promise<FireboltEngine> {
  return eventually(
    async () => {
      const engine = await read();
      const status = { phase: "stopped", autoStopReason: "Stopped" };
      expect(engine).toMatchObject({ spec: { replicas: 0 }, status });
      expect(await podsOf(harness, `${LABEL.engine}=${NAME}`)).toEqual([]);
      return engine;
    },
    { timeoutMs: 200_000, describe: "an engine that is stopped" },
  );
}

test(`idle-for-its-time, query-held-and-answered: an idle engine stops, and ${CLIENTS} concurrent first queries wake it and succeed`, async () => {
  await using history = await watchEngineHistory(harness.cluster.client, NAMESPACE);
  const autoStop = { enabled: true, activeReplicas: 1, idleTimeout: `${IDLE_SECONDS}s`, pollInterval: "1s" };
  await createEngine(harness, NAME, { replicas: 1, autoStop });
  const idleMs = performance.now();
  const stopped = await untilAsleep();
  const asleepSeconds = Math.round((performance.now() - idleMs) / 1000);
  // Once woken it must not stop again before it has been checked.
  await editEngine(harness, NAME, { autoStop: { idleTimeout: "10m" } });

  // All within a moment, then nothing more.
  const burst = { perSecond: 10_000, longEveryMs: 0, limit: CLIENTS };
  const load = startLoad({ gateway: harness.gateway, engine: NAME, ...burst });
  load.phase("first queries");
  await eventually(() => load.tally.sent === CLIENTS);
  const figures = await load.stop();
  recordFigures(harness.context.figures, "wake-by-query", { ...figures, clients: CLIENTS, asleepSeconds });
  const source = { api: harness.api, namespace: NAMESPACE, instance: INSTANCE };
  const failures = await withAccessLog(source, load.tally.failures);
  expect(failures.length, describeFailures(failures)).toBe(0);
  // They waited for the engine to start: no response came from a remaining pod.
  expect(figures.mostAtOnce).toBe(CLIENTS);
  const woken = await settled(harness, NAME);
  expect(woken.spec?.replicas).toBe(1);
  expect(woken.status?.currentGeneration).toBe((stopped.status?.currentGeneration ?? 0) + 1);
  expect(brokenInvariants(history)).toEqual([]);
});
