// Engines that are idle when they roll or stop, and clients that do not know of it yet: the name server caches for 30 s, as that of most
// clusters, and gateways go on sending queries to addresses of the old generation. The operator runs with the chart's own settle time.
import { Resolver } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CLUSTER_DOMAIN, NODE_ADDRESS } from "../../dev/cluster/addresses.ts";
import { installCharts } from "../../dev/deploy/charts.ts";
import { applyManifests } from "../../dev/deploy/manifests.ts";
import { query } from "../../dev/deploy/query.ts";
import { waitUntilReady } from "../../dev/deploy/ready.ts";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { LABEL } from "../../src/api/labels.ts";
import { type EngineHistory, watchEngineHistory } from "../engine/support/history.ts";
import { brokenInvariants } from "../engine/support/invariants.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { withAccessLog } from "./support/access-log.ts";
import {
  type ClusterHarness,
  createEngine,
  editEngine,
  gatewayOf,
  openClusterHarness,
  settled,
} from "./support/cluster-harness.ts";
import { judgeDrains } from "./support/drain-invariants.ts";
import { type EngineReports, followEngineReports } from "./support/engine-reports.ts";
import { recordFigures } from "./support/figures.ts";
import { describeFailures, type Failure } from "./support/load-tally.ts";
import { causeFault, NAME_CACHE_SECONDS } from "./support/node-control.ts";
import { INSTANCE, instanceManifest, NAMESPACE, OPERATOR_VALUES } from "./support/platform.ts";
import { generationOf, type PlannedQuery, type SingleQuery, sendPlanned } from "./support/single-queries.ts";

/** The default of `controllers.drainSettle`. */
const SETTLE_MS = 35_000;
/** A terminating engine waits for its queries for 55 s. */
const OUTLASTING_MS = 65_000;
/**
 * Longer than the DNS refresh interval of gateways: a query sent to an old address later got it from the DNS server's
 * cache.
 */
const GATEWAY_REFRESH_MS = 3_000;
/** Of the 30 s: the cache is refreshed shortly before an edit, so that it is stale after the switch. */
const FRESH_SECONDS = NAME_CACHE_SECONDS - 4;
/** Enough new connections to reach both gateways. */
const WARM_UP = 12;

const short = (...offsets: readonly number[]): readonly PlannedQuery[] =>
  offsets.map((offsetMs) => ({ offsetMs, takesMs: 0 }));
const outlasting = (offsetMs: number): PlannedQuery => ({ offsetMs, takesMs: OUTLASTING_MS });
const MANY = short(0, 150, 400, 800, 1_300, 2_000, 3_000, 4_200, 5_500, 7_000, 8_500, 10_000);

interface Scenario {
  readonly name: string;
  readonly change: "roll" | "stop";
  readonly instance: string;
  readonly spec: object;
  /** One entry per roll or stop. */
  readonly rounds: readonly (readonly PlannedQuery[])[];
}
/** Its gateway has no wake agent: only DNS shows it a roll or a stop. */
const PLAIN = "plain";
const OWN_IDENTITY = { spec: { serviceAccountName: "default" } };
const autoStop = { enabled: true, activeReplicas: 1, idleTimeout: "1h" };
const SCENARIOS: readonly Scenario[] = [
  {
    name: "quiet-roll-a",
    change: "roll",
    instance: PLAIN,
    spec: {},
    rounds: [MANY, [...short(100, 700), outlasting(300)]],
  },
  {
    name: "quiet-roll-b",
    change: "roll",
    instance: INSTANCE,
    spec: {},
    rounds: [[...MANY, outlasting(5_000)], short(8_000)],
  },
  {
    name: "quiet-stop-a",
    change: "stop",
    instance: PLAIN,
    spec: {},
    rounds: [MANY, [...short(1_500, 6_000), outlasting(1_000)]],
  },
  // A query wakes it while it stops: the operator switches back to the old generation.
  {
    name: "quiet-stop-b",
    change: "stop",
    instance: INSTANCE,
    spec: { autoStop },
    rounds: [[...MANY, outlasting(9_000)], short(4_000)],
  },
];
const isWoken = ({ spec }: Scenario): boolean => "autoStop" in spec;

const resolver = new Resolver({ timeout: 1_000, tries: 1 });
resolver.setServers([NODE_ADDRESS]);
let harness: ClusterHarness;
let history: EngineHistory;
let reports: EngineReports;
let gateways: ReadonlyMap<string, string>;
const gatewayFor = ({ instance }: Scenario): string => gateways.get(instance) ?? "";

/** This takes minutes: report progress. */
const tell = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const upgradeOperator = (values: object): Promise<void> => {
  const { kubeconfig, images } = harness.context;
  return installCharts({ kubeconfig, images, values: { ...values } });
};

beforeAll(async () => {
  harness = await openClusterHarness();
  history = await watchEngineHistory(harness.cluster.client, NAMESPACE);
  reports = followEngineReports(harness.context.folder, NAMESPACE);
  await causeFault(harness.context.controlSocket, "cache-names");
  const { controllers: _, ...defaults } = OPERATOR_VALUES;
  await upgradeOperator(defaults);
  await applyManifests(harness.cluster, [instanceManifest(PLAIN, { gateway: { template: OWN_IDENTITY } })]);
  await waitUntilReady(harness.cluster, { instances: [PLAIN], engines: [] });
  const plain = await gatewayOf(harness.cluster, { namespace: NAMESPACE, instance: PLAIN });
  gateways = new Map([
    [INSTANCE, harness.gateway],
    [PLAIN, plain],
  ]);
}, 600_000);
afterAll(async () => {
  // First what other files rely on.
  await causeFault(harness.context.controlSocket, "cache-no-names");
  await upgradeOperator(OPERATOR_VALUES);
  await reports[Symbol.asyncDispose]();
  await history[Symbol.asyncDispose]();
  const { client, call } = harness.cluster;
  for (const { name } of SCENARIOS) await client.delete(FireboltEngine, { namespace: NAMESPACE, name }, call);
  await client.delete(FireboltInstance, { namespace: NAMESPACE, name: PLAIN }, call);
  harness[Symbol.dispose]();
});

/** Resolves when the name server has just cached the addresses of the engine's Service. */
function untilCached(engine: string, seconds: number): Promise<unknown> {
  const name = `${engine}-service.${NAMESPACE}.svc.${CLUSTER_DOMAIN}`;
  return eventually(
    async () => {
      const [first] = await resolver.resolve4(name, { ttl: true });
      expect(first?.ttl).toBeGreaterThanOrEqual(seconds);
    },
    { timeoutMs: 90_000, describe: `addresses of ${name} with a time to live of ${seconds} s` },
  );
}

/** Both gateways know the engine, and so look its name up every 2 s. One that was just started may be news to a gateway without wake agent. */
function warmUp(scenario: Scenario): Promise<void> {
  const target = { gateway: gatewayFor(scenario), engine: scenario.name };
  return eventually(
    async () => {
      for (let sent = 0; sent < WARM_UP; sent += 1) {
        const { status, body } = await query({ ...target, sql: "SELECT whoami()" });
        expect(status, body).toBe(200);
      }
    },
    { timeoutMs: 90_000, describe: `${WARM_UP} responses of ${scenario.name} in a row` },
  );
}

const selected = (engine: string): string | undefined =>
  history.latest("Service", `${engine}-service`)?.spec?.selector?.[LABEL.generation];

/** The moment at which the Service stopped selecting the generation, on the monotonic clock. */
async function untilSwitched(engine: string, from: string): Promise<number> {
  const deadlineMs = performance.now() + 120_000;
  while (selected(engine) === from) {
    if (performance.now() > deadlineMs) throw new Error(`${engine} is still on generation ${from}`);
    await sleep(2);
  }
  return performance.now();
}

interface Answered extends SingleQuery {
  /** The generation that was replaced. */
  readonly replaced: string;
  readonly scenario: Scenario;
}

async function runRound(scenario: Scenario, plan: readonly PlannedQuery[], round: number) {
  const { name, change } = scenario;
  await untilCached(name, 1);
  await warmUp(scenario);
  await untilCached(name, FRESH_SECONDS);
  const replaced = selected(name) ?? "";
  const annotations = { "e2e.firebolt.io/round": String(round) };
  await editEngine(harness, name, change === "stop" ? { replicas: 0 } : { template: { metadata: { annotations } } });
  const switchedMs = await untilSwitched(name, replaced);
  const phase = `${change}-${round}`;
  const answers = await sendPlanned(plan, { gateway: gatewayFor(scenario), engine: name, phase, switchedMs });
  const lost = answers.filter(({ failure }) => failure !== undefined);
  tell(`${name} ${phase}: ${answers.length} sent, ${lost.length} lost`);
  if (change === "stop") await restart(scenario);
  const generation = Number(replaced) + (isWoken(scenario) ? 0 : 1);
  await settled(harness, name, { generation, timeoutMs: 240_000 });
  return answers.map((answer): Answered => ({ ...answer, replaced, scenario }));
}

/** As soon as it has stopped; one that was woken meanwhile runs again. */
async function restart(scenario: Scenario): Promise<void> {
  const { client, call } = harness.cluster;
  const { name } = scenario;
  await eventually(
    async () => {
      const { status } = await client.get(FireboltEngine, { namespace: NAMESPACE, name }, call);
      expect(status?.phase).toBe(isWoken(scenario) ? "stable" : "stopped");
    },
    { timeoutMs: 240_000, describe: `the end of the stop of ${name}` },
  );
  await editEngine(harness, name, { replicas: 1 });
}

async function run(scenario: Scenario): Promise<readonly Answered[]> {
  await createEngine(harness, scenario.name, { replicas: 1, instanceRef: scenario.instance, ...scenario.spec });
  const answers: Answered[] = [];
  for (const [round, plan] of scenario.rounds.entries()) answers.push(...(await runRound(scenario, plan, round)));
  return answers;
}

test("no-query-lost, drained-before-deleted: idle engines roll and stop while name servers cache, and no query is lost", async () => {
  const answers = (await Promise.all(SCENARIOS.map(run))).flat();
  const failed = answers.flatMap(({ failure }) => failure ?? []);
  const all = await reports.all();
  // Sent after the switch and served by the replaced generation, unless the operator switched back to it.
  const stale = answers.filter((one) => !isWoken(one.scenario) && generationOf(one, all) === one.replaced);
  const late = stale.filter(({ sentAfterMs }) => sentAfterMs > GATEWAY_REFRESH_MS);
  const rounds = SCENARIOS.flatMap((scenario) => scenario.rounds).length;
  recordFigures(harness.context.figures, "quiet-engines", {
    sent: answers.length,
    failed: failed.length,
    rolls: rounds,
    stale: stale.length,
    staleFromCache: late.length,
    latestStaleMs: Math.round(Math.max(0, ...late.map(({ sentAfterMs }) => sentAfterMs))),
  });
  let failures: readonly Failure[] = failed;
  for (const instance of gateways.keys())
    failures = await withAccessLog({ api: harness.api, namespace: NAMESPACE, instance }, failures);
  expect(failures.length, describeFailures(failures)).toBe(0);
  // Otherwise nothing was proved: no gateway used an old address, or none for longer than it would without a cache.
  for (const change of ["roll", "stop"]) {
    const isOf = ({ scenario }: Answered): boolean => scenario.change === change;
    expect(late.filter(isOf).length, `stale, ${change}`).toBeGreaterThan(0);
    const long = stale.filter((one) => isOf(one) && one.takesMs > 0);
    expect(long.length, `long and stale, ${change}`).toBeGreaterThan(0);
  }
  expect(brokenInvariants(history)).toEqual([]);
  const drains = judgeDrains(history, all, { settleMs: SETTLE_MS });
  expect(drains.broken).toEqual([]);
  const replacing = SCENARIOS.filter((scenario) => !isWoken(scenario)).flatMap((scenario) => scenario.rounds);
  expect(drains.checked).toHaveLength(replacing.length);
}, 900_000);
