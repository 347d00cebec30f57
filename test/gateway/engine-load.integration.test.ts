// Running queries and connections per engine as the metrics port of a real Envoy shows them: of an engine that the agent publishes, and of one that
// is resolved by name. The request is filtered by Envoy itself.
import { afterEach, expect, test } from "vitest";
import { ENGINE_LOAD_PATH, type EngineLoad, parseEngineLoad } from "../../src/gateway/engine-load.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type BriefPod, startBriefPod } from "./support/brief-pods.ts";
import { type DiscoveryHarness, openDiscoveryHarness } from "./support/discovery-harness.ts";

let harness: DiscoveryHarness;
const pods: BriefPod[] = [];

afterEach(async () => {
  await harness?.[Symbol.asyncDispose]();
  await Promise.all(pods.splice(0).map((pod) => pod.end()));
});

async function start(engine: string): Promise<BriefPod> {
  const pod = await startBriefPod(`${engine}-g0-0`, harness.nextAddress());
  pods.push(pod);
  return pod;
}

/** Longer than the test looks at them; they end with the signal. */
const LONG = "wait 30000";

async function page(): Promise<string> {
  const url = `http://127.0.0.1:${harness.metricsPort}${ENGINE_LOAD_PATH}`;
  const response = await fetch(url, { signal: AbortSignal.timeout(60_000) });
  expect(response.status).toBe(200);
  return response.text();
}

async function loads(): Promise<ReadonlyMap<string, EngineLoad>> {
  const found = parseEngineLoad(await page());
  if (found === undefined) throw new Error("this is no response of Envoy's");
  return found;
}

test("queries that run, and their connections, by engine and by how it was found", async () => {
  harness = await openDiscoveryHarness();
  const [hot, late] = [await start("hot"), await start("late")];
  harness.publish("hot", [hot]);
  await eventually(() => harness.discovery().connected);
  await harness.client.query({ engine: "hot" });
  const leave = new AbortController();
  const send = (engine: string) => harness.client.send({ engine, sql: LONG, signal: leave.signal });
  const running = [send("hot"), send("hot")];
  await eventually(async () => {
    expect((await loads()).get("hot")).toMatchObject({ queries: 2, queriesByName: 0 });
  });
  // From here on names are resolved; what runs goes on.
  await harness.stopAgent();
  harness.publishToDns("late", [late]);
  running.push(send("late"));
  await eventually(async () => {
    const found = await loads();
    expect(found.get("late")).toEqual({ queries: 1, queriesByName: 1, connections: 1 });
    // The connection of the first query may be idle beside the two.
    expect(found.get("hot")?.queries).toBe(2);
    expect([2, 3]).toContain(found.get("hot")?.connections);
    expect([...found.keys()].toSorted()).toEqual(["hot", "late"]);
  });
  const others = (await page()).split("\n").filter((line) => !/^$|^#|upstream_(?:rq|cx)_active\{/.test(line));
  expect(others).toEqual([]);
  leave.abort();
  await Promise.allSettled(running);
  await eventually(async () => {
    const found = await loads();
    expect([found.get("hot")?.queries ?? 0, found.get("late")?.queries ?? 0]).toEqual([0, 0]);
  });
});
