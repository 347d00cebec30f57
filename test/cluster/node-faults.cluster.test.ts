// What the platform rests on fails piece by piece, under queries: the kubelet, the API server, etcd, the database, and the operator
// altogether. Queries need none of them; afterwards everything is as it was, and the operator works.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { installCharts, uninstallOperator } from "../../dev/deploy/charts.ts";
import { waitUntilReady } from "../../dev/deploy/ready.ts";
import { openPostgres } from "../../dev/stand-ins/metadata/postgres-connection.ts";
import { credentialsSecretName } from "../../src/api/firebolt-instance/secret-names.ts";
import { LABEL } from "../../src/api/labels.ts";
import { configMaps, pods } from "../../src/engine/cluster/kinds.ts";
import { KINDS } from "../../src/instance/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { withAccessLog } from "./support/access-log.ts";
import { type ClusterHarness, openClusterHarness, podsOf, settled } from "./support/cluster-harness.ts";
import { recordFigures } from "./support/figures.ts";
import { type Load, startLoad } from "./support/load.ts";
import { describeFailures } from "./support/load-tally.ts";
import { causeFault, type Fault } from "./support/node-control.ts";
import { ENGINE, INSTANCE, NAMESPACE, OPERATOR_VALUES } from "./support/platform.ts";

/** Long enough for every watch, lease and look-up to have failed at least once. */
const OUTAGE_MS = 6_000;
/** Some seconds of traffic after a fault: what it does to probes and endpoints shows late. */
const QUERIES_AFTER = 300;
const DATABASE_POD = `${INSTANCE}-metadata-pg-0`;

let harness: ClusterHarness;
let load: Load;
let generation: number | undefined;
/** Of engines and gateways: no fault may cost one of them its place. */
let servingPods: readonly string[];
let faults = 0;

const serving = async (): Promise<readonly string[]> => {
  const found = [
    ...(await podsOf(harness, `${LABEL.engine}=${ENGINE}`)),
    ...(await podsOf(harness, `${LABEL.instance}=${INSTANCE},${LABEL.component}=gateway`)),
  ];
  return found.map(({ metadata, status }) => {
    const restarts = status?.containerStatuses?.map(({ restartCount }) => restartCount).join("+");
    return `${metadata?.name} ${metadata?.uid} restarts ${restarts}`;
  });
};

beforeAll(async () => {
  harness = await openClusterHarness();
  generation = (await settled(harness, ENGINE)).status?.currentGeneration;
  servingPods = await serving();
  load = startLoad({ gateway: harness.gateway, engine: ENGINE, perSecond: 60, longEveryMs: 2_000 });
});

/** Whatever the fault was: the platform is whole, on the same pods and the same generation, and the operator repairs things. */
afterEach(async () => {
  faults += 1;
  const { succeeded } = load.tally;
  await eventually(() => load.tally.succeeded > succeeded + QUERIES_AFTER, { timeoutMs: 150_000 });
  await waitUntilReady(harness.cluster, { instances: [INSTANCE], engines: [ENGINE], timeoutMs: 240_000 });
  const engine = await settled(harness, ENGINE);
  expect(engine.status?.currentGeneration).toBe(generation);
  expect(await serving()).toEqual(servingPods);
  await expectRepair(`${ENGINE}-g${generation}-config`);
  expect(load.tally.failures.length, describeFailures(load.tally.failures)).toBe(0);
});

afterAll(async () => {
  const figures = await load.stop();
  recordFigures(harness.context.figures, "node-faults", { ...figures, faults });
  const source = { api: harness.api, namespace: NAMESPACE, instance: INSTANCE };
  const failures = await withAccessLog(source, load.tally.failures);
  harness[Symbol.dispose]();
  expect(failures.length, describeFailures(failures)).toBe(0);
  expect(figures.sent).toBe(figures.succeeded);
});

/** The operator sees the loss of an object and makes it again. */
async function expectRepair(name: string): Promise<void> {
  const { client, call } = harness.cluster;
  const key = { namespace: NAMESPACE, name };
  const { metadata } = await client.get(configMaps, key, call);
  await client.delete(configMaps, key, call);
  await eventually(
    async () => {
      const found = await client.find(configMaps, key, call);
      expect(found?.metadata?.uid).not.toBe(metadata?.uid);
      expect(found).toBeDefined();
    },
    { timeoutMs: 150_000, describe: `${name}, made again` },
  );
}

const cause = (fault: Fault): Promise<void> => {
  load.phase(fault);
  return causeFault(harness.context.controlSocket, fault);
};

test("the kubelet is started again", async () => {
  await cause("restart-kubelet");
});

test("the API server is away for a while", async () => {
  await cause("stop-api-server");
  await sleep(OUTAGE_MS);
  await cause("start-api-server");
});

test("etcd is started again", async () => {
  await cause("restart-etcd");
});

/** What the metadata service keeps, without the count of its own starts. */
async function readAccounts(): Promise<unknown> {
  const { client, call } = harness.cluster;
  const key = { namespace: NAMESPACE, name: credentialsSecretName(INSTANCE) };
  const { data = {} } = await client.get(KINDS.Secret, key, call);
  const text = (name: string): string => Buffer.from(data[name] ?? "", "base64").toString();
  const { status } = await client.get(pods, { namespace: NAMESPACE, name: DATABASE_POD }, call);
  const connection = await openPostgres({
    host: status?.podIP ?? "",
    port: 5432,
    database: text("database"),
    user: text("username"),
    password: text("password"),
    deadlineMs: 30_000,
  });
  try {
    return await connection.query("SELECT id, created_at FROM accounts ORDER BY id");
  } finally {
    connection.close();
  }
}

test("the pod of the database is deleted, and nothing of its data is lost", async () => {
  load.phase("PostgreSQL deleted");
  const { client, call } = harness.cluster;
  const accounts = await readAccounts();
  expect(accounts).toHaveLength(1);
  await client.delete(pods, { namespace: NAMESPACE, name: DATABASE_POD }, call);
  await eventually(async () => expect(await readAccounts()).toEqual(accounts), { timeoutMs: 150_000 });
});

test("the operator is uninstalled and installed again, and takes over what it finds", async () => {
  load.phase("operator uninstalled");
  const { kubeconfig, images } = harness.context;
  await uninstallOperator({ kubeconfig });
  load.phase("no operator");
  await sleep(OUTAGE_MS);
  load.phase("operator installed again");
  await installCharts({ kubeconfig, images, values: OPERATOR_VALUES });
});
