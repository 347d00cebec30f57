// The main guarantee: an engine rolls ten times, the gateway is replaced and the operator is killed every ten seconds,
// and clients that send queries all the time see no error. Every request is accounted for, and every result is checked.
import { afterAll, beforeAll, expect, test } from "vitest";
import { queryRows } from "../../dev/deploy/query.ts";
import { FireboltEngineClass } from "../../src/api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { KINDS } from "../../src/instance/cluster/kinds.ts";
import { watchEngineHistory } from "../engine/support/history.ts";
import { brokenInvariants } from "../engine/support/invariants.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { withAccessLog } from "./support/access-log.ts";
import { type ClusterHarness, edit, editEngine, openClusterHarness, settled } from "./support/cluster-harness.ts";
import { judgeDrains } from "./support/drain-invariants.ts";
import { type EngineReports, followEngineReports } from "./support/engine-reports.ts";
import { recordFigures } from "./support/figures.ts";
import { type Load, sleepFor, startLoad } from "./support/load.ts";
import { describeFailures, type LoadFigures } from "./support/load-tally.ts";
import { startOperatorKiller } from "./support/operator-process.ts";
import { CLASS, DRAIN_SETTLE_MS, ENGINE, INSTANCE, NAMESPACE } from "./support/platform.ts";

const KILL_EVERY_MS = 10_000;
const GATEWAY_ROLLS_AT = 4;
/**
 * Rolls that start with a query longer than a pod's termination: a terminating pod waits for 55 s and is killed after
 * 60.
 */
const OUTLASTED_AT: readonly number[] = [1, 3, 7];
const OUTLASTING_MS = 80_000;

let harness: ClusterHarness;

beforeAll(async () => {
  harness = await openClusterHarness();
});
afterAll(() => harness?.[Symbol.dispose]());

interface Roll {
  readonly name: string;
  edit(): Promise<unknown>;
}

/** This takes minutes: report progress. */
const tell = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const engine = (name: string, spec: object): Roll => ({ name, edit: () => editEngine(harness, ENGINE, spec) });
const image = (reference: string): object => ({
  template: { spec: { containers: [{ name: "engine", image: reference }] } },
});
const classEdit = (round: string): Roll => ({
  name: `class edit ${round}`,
  edit: () =>
    edit(harness, FireboltEngineClass, {
      name: CLASS,
      spec: { template: { metadata: { annotations: { "e2e.firebolt.io/round": round } } } },
    }),
});

const rolls = (): readonly Roll[] => {
  const { images, nextEngineImage } = harness.context;
  const engineImage = images.find(({ name }) => name === "engine")?.reference ?? "";
  return [
    engine("image", image(nextEngineImage)),
    classEdit("1"),
    engine("scale 1→3", { replicas: 3 }),
    engine("custom config", { customEngineConfig: { logging: { level: "info" } } }),
    engine("scale 3→2", { replicas: 2 }),
    engine("image back", image(engineImage)),
    classEdit("2"),
    engine("custom config back", { customEngineConfig: null }),
    engine("scale 2→1", { replicas: 1 }),
    engine("image again", image(nextEngineImage)),
  ];
};

/**
 * Resolves once this generation serves. An engine at rest may have old pods for a moment, and a gateway that knows no
 * others yet: those may serve until then. A failed query is lost, and not retried.
 */
async function answeredBy(generation: number): Promise<void> {
  const answer = await eventually(
    async () => {
      const sql = "SELECT whoami()";
      const [outcome] = await Promise.allSettled([queryRows({ gateway: harness.gateway, engine: ENGINE, sql })]);
      const isOlder = outcome.status === "fulfilled" && outcome.value[0]?.[1] !== String(generation);
      return isOlder ? false : outcome;
    },
    { describe: `a response of generation ${generation}` },
  );
  if (answer.status === "rejected") throw answer.reason;
}

/** A query that the generation which is about to be replaced must finish. Resolves once one of its pods runs it. */
async function sendOutlasting(load: Load, reports: EngineReports): Promise<void> {
  const label = load.sendLong(sleepFor(OUTLASTING_MS));
  await eventually(async () => (await reports.all()).some((one) => one.type === "began" && one.label === label), {
    describe: `${label} running`,
  });
}

/** A new pod for every pod of the gateway; resolves when no pod of the old kind serves any more. */
async function rollGateway(): Promise<void> {
  const { client, call } = harness.cluster;
  const template = { metadata: { annotations: { "e2e.firebolt.io/rolled": String(Date.now()) } } };
  await edit(harness, FireboltInstance, { name: INSTANCE, spec: { gateway: { template } } });
  await eventually(
    async () => {
      const name = `${INSTANCE}-gateway`;
      const { metadata, spec, status } = await client.get(KINDS.Deployment, { namespace: NAMESPACE, name }, call);
      expect(spec?.template.metadata?.annotations).toMatchObject(template.metadata.annotations);
      expect(status).toMatchObject({ observedGeneration: metadata?.generation, updatedReplicas: 2, replicas: 2 });
      expect(status?.availableReplicas).toBe(2);
    },
    { timeoutMs: 120_000, describe: "a new gateway" },
  );
}

test("no-query-lost, drained-before-deleted, image-changed, scaled-up, scaled-down, class-template-edited: ten rolls, a new gateway and an operator killed every ten seconds lose no query", async () => {
  await using history = await watchEngineHistory(harness.cluster.client, NAMESPACE);
  await using reports = followEngineReports(harness.context.folder, NAMESPACE);
  const before = await settled(harness, ENGINE);
  const first = before.status?.activeGeneration ?? 0;
  const load = startLoad({ gateway: harness.gateway, engine: ENGINE, perSecond: 205, longEveryMs: 2_000 });
  const killer = startOperatorKiller(harness.api, KILL_EVERY_MS);
  const rollSeconds: number[] = [];
  let gatewayRoll = Promise.resolve();
  let figures: LoadFigures;
  try {
    for (const [index, roll] of rolls().entries()) {
      load.phase(`roll ${index + 1}: ${roll.name}`);
      const startedMs = performance.now();
      if (index === GATEWAY_ROLLS_AT) gatewayRoll = rollGateway();
      if (OUTLASTED_AT.includes(index)) await sendOutlasting(load, reports);
      const generation = first + index + 1;
      await roll.edit();
      await settled(harness, ENGINE, { generation, timeoutMs: 480_000 });
      rollSeconds.push(Math.round((performance.now() - startedMs) / 1000));
      tell(
        `roll ${index + 1}, ${roll.name}: ${rollSeconds.at(-1)} s; ${load.tally.sent} sent, ${killer.kills()} kills`,
      );
      await answeredBy(generation);
    }
    load.phase("after the last roll");
    await gatewayRoll;
  } finally {
    await killer.stop();
    figures = await load.stop();
    recordFigures(harness.context.figures, "zero-lost-queries", {
      ...figures,
      rolls: rollSeconds.length,
      rollSeconds: rollSeconds.join(" "),
      gatewayRolls: 1,
      kills: killer.kills(),
    });
  }
  const source = { api: harness.api, namespace: NAMESPACE, instance: INSTANCE };
  const failures = await withAccessLog(source, load.tally.failures);
  expect(failures.length, describeFailures(failures)).toBe(0);
  expect(figures.sent).toBe(figures.succeeded + figures.failed);
  expect(figures.perSecond).toBeGreaterThanOrEqual(200);
  expect(killer.kills()).toBeGreaterThanOrEqual(Math.floor(figures.durationMs / KILL_EVERY_MS / 2));
  const after = await settled(harness, ENGINE);
  // No more generations than edits, however often the operator was restarted.
  expect(after.status?.currentGeneration).toBe(first + rolls().length);
  expect(brokenInvariants(history)).toEqual([]);
  const drains = judgeDrains(history, await reports.all(), { settleMs: DRAIN_SETTLE_MS });
  expect(drains.broken).toEqual([]);
  expect(drains.checked).toHaveLength(rolls().length);
}, 1_200_000);
