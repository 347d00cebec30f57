// Rollouts that do not wait for queries: `rollout: recreate` and `drainCheckEnabled: false`. The operator moves straight on to
// cleaning; queries that the old pods have accepted still get the pods' own grace period, and new ones go to the new generation.
import { afterAll, beforeAll, expect, test } from "vitest";
import { query, queryRows } from "../../dev/deploy/query.ts";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { statefulSets } from "../../src/engine/cluster/kinds.ts";
import { type EngineHistory, watchEngineHistory } from "../engine/support/history.ts";
import { brokenInvariants } from "../engine/support/invariants.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { withAccessLog } from "./support/access-log.ts";
import {
  type ClusterHarness,
  createEngine,
  editEngine,
  openClusterHarness,
  settled,
} from "./support/cluster-harness.ts";
import { recordFigures } from "./support/figures.ts";
import { firstValue, startLoad } from "./support/load.ts";
import { describeFailures } from "./support/load-tally.ts";
import { INSTANCE, NAMESPACE } from "./support/platform.ts";

/** Longer than a roll takes, shorter than the grace period of a pod. */
const LONG_MS = 45_000;
/** Time for the checks that run during the query. */
const LOOK_MS = 5_000;

let harness: ClusterHarness;
let history: EngineHistory;

beforeAll(async () => {
  harness = await openClusterHarness();
  history = await watchEngineHistory(harness.cluster.client, NAMESPACE);
});
afterAll(async () => {
  const { client, call } = harness.cluster;
  for (const { name } of CASES) await client.delete(FireboltEngine, { namespace: NAMESPACE, name }, call);
  await history[Symbol.asyncDispose]();
  harness[Symbol.dispose]();
});

const CASES = [
  { name: "recreated", spec: { rollout: "recreate" } },
  { name: "unchecked", spec: { drainCheckEnabled: false } },
] as const;

const phasesOf = (name: string): readonly (string | undefined)[] =>
  history.of("FireboltEngine", name).map(({ object }) => object.status?.phase);

test.concurrent.each(CASES)(
  "drain-check-off: $spec rolls without waiting, and cuts nothing",
  async ({ name, spec }) => {
    await createEngine(harness, name, { replicas: 1, ...spec });
    const load = startLoad({ gateway: harness.gateway, engine: name, perSecond: 30, longEveryMs: 0 });
    let answered = false;
    const queriedMs = performance.now();
    const long = query({ gateway: harness.gateway, engine: name, sql: `SELECT sleep(${LONG_MS})` }).finally(() => {
      answered = true;
    });
    // Sent before the roll begins, on the generation that it replaces.
    await eventually(() => load.tally.succeeded > 30);
    const startedMs = performance.now();
    load.phase("rolling");
    const image = harness.context.nextEngineImage;
    await editEngine(harness, name, { template: { spec: { containers: [{ name: "engine", image }] } } });
    await settled(harness, name, { generation: 1 });
    const rollMs = performance.now() - startedMs;
    load.phase("rolled");
    // The roll completes while the query is still running, because nothing waits for it. This can be observed unless
    // the machine took longer than the query.
    if (performance.now() - queriedMs < LONG_MS - LOOK_MS) {
      expect(answered).toBe(false);
      const old = await harness.cluster.client.find(statefulSets, { namespace: NAMESPACE, name: `${name}-g0` });
      expect(old?.metadata?.deletionTimestamp, "the old StatefulSet ends").toBeDefined();
    }
    // As soon as kube-proxy has observed the switch: until then the old pod, which still runs, responds.
    await eventually(async () => {
      const [row = []] = await queryRows({ gateway: harness.gateway, engine: name, sql: "SELECT whoami()" });
      expect(row[1]).toBe("1");
    });

    const answer = await long;
    expect(firstValue(answer.body), answer.body).toBe(LONG_MS);
    const figures = await load.stop();
    recordFigures(harness.context.figures, name, { ...figures, rolls: 1, rollSeconds: Math.round(rollMs / 1000) });
    const source = { api: harness.api, namespace: NAMESPACE, instance: INSTANCE };
    const failures = await withAccessLog(source, load.tally.failures);
    expect(failures.length, describeFailures(failures)).toBe(0);
    const phases = phasesOf(name);
    expect(phases).toContain("cleaning");
    expect(phases).not.toContain("draining");
    await eventually(async () => {
      expect(
        await harness.cluster.client.find(statefulSets, { namespace: NAMESPACE, name: `${name}-g0` }),
      ).toBeUndefined();
    });
    expect(brokenInvariants(history)).toEqual([]);
  },
);
