// The released SDKs as programs against the gateway of a real cluster: every result type, parameters and errors, with the engine named by
// host and by default, and 50 concurrent queries through a roll.
import { openWorkspace, type Workspace } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { expectedOf } from "../harness/sdk/expected.ts";
import { checkWithSdk, type SdkLoad, SDKS, startSdk } from "../harness/sdk/sdk-clients.ts";
import {
  type ClusterHarness,
  createEngine,
  editEngine,
  openClusterHarness,
  settled,
} from "./support/cluster-harness.ts";
import { recordFigures } from "./support/figures.ts";
import { ENGINE, HOST_DOMAIN, NAMESPACE } from "./support/platform.ts";

const NAME = "sdk";

let harness: ClusterHarness;
let workspace: Workspace;

beforeAll(async () => {
  harness = await openClusterHarness();
  workspace = openWorkspace("sdks-");
  await createEngine(harness, NAME, { replicas: 1 });
});
afterAll(async () => {
  await workspace.close();
  await harness.cluster.client.delete(FireboltEngine, { namespace: NAMESPACE, name: NAME }, harness.cluster.call);
  harness[Symbol.dispose]();
});

function urlOf(host: string): string {
  const { port } = new URL(harness.gateway);
  return `http://${host}:${port || 80}`;
}
const options = () => {
  const { hostname } = new URL(harness.gateway);
  return { workspace, hosts: { [HOST_DOMAIN]: hostname, [`${NAME}.${HOST_DOMAIN}`]: hostname } };
};

test.each(SDKS)("%s: every result type, parameters and errors, by host and from the default engine", async (sdk) => {
  const ofEngine = (name: string) => expect.stringMatching(new RegExp(`^${name}-g\\d+-0$`));
  const byHost = await checkWithSdk(sdk, urlOf(`${NAME}.${HOST_DOMAIN}`), options());
  expect(byHost).toEqual(expectedOf(sdk, ofEngine(NAME)));
  expect(await checkWithSdk(sdk, urlOf(HOST_DOMAIN), options())).toEqual(expectedOf(sdk, ofEngine(ENGINE)));
});

test.each(SDKS)("%s: 50 concurrent queries through a roll, none lost", async (sdk) => {
  const generation = (await settled(harness, NAME)).status?.activeGeneration ?? 0;
  const run = await startSdk(sdk, ["load", urlOf(`${NAME}.${HOST_DOMAIN}`)], options());
  const answered = (pod: string) =>
    eventually(() => run.output().includes(`${pod}\n`), { timeoutMs: 120_000, describe: `a result from ${pod}` });
  await answered(`${NAME}-g${generation}-0`);
  await editEngine(harness, NAME, { template: { metadata: { annotations: { "e2e.firebolt.io/rolled-by": sdk } } } });
  await answered(`${NAME}-g${generation + 1}-0`);
  // Until the old pod is deleted.
  await settled(harness, NAME, { generation: generation + 1 });
  const { sent, failures } = (await run.finish()) as SdkLoad;
  recordFigures(harness.context.figures, `sdk-${sdk}`, { sent, failed: failures.length });
  expect(failures).toEqual([]);
});
