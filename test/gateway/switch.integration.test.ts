// What clients notice when an engine moves to new pods while they query it: nothing. The pods end as the operator ends them, and
// the names change when the name server gets to it.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINE_CONTRACT } from "../../src/api/engine-contract.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { startQueryLoad } from "../harness/envoy/query-load.ts";
import type { StandInEngine } from "../harness/pods/stand-in-engine.ts";
import { type GatewayHarness, openGatewayHarness, serviceHost } from "./support/gateway-harness.ts";

const CLIENTS = 12;

let harness: GatewayHarness;

beforeAll(async () => {
  harness = await openGatewayHarness();
});
afterAll(async () => {
  console.log(`gateway-switch: ${harness.client.sent} requests sent, ${harness.client.failed} failed`);
  expect(harness.client.failed).toBe(0);
  await harness[Symbol.asyncDispose]();
});

function startGeneration(engine: string, generation: number, replicas: number): Promise<readonly StandInEngine[]> {
  const indexes = Array.from({ length: replicas }, (_, index) => index);
  return Promise.all(indexes.map((index) => harness.startEngine({ engine, generation, index, replicas })));
}

const isDrained = async (pod: StandInEngine): Promise<boolean> => {
  const metrics = await (await pod.get(9090, "/metrics")).text();
  return Object.values(ENGINE_CONTRACT.gauges).every((gauge) => metrics.split("\n").includes(`${gauge} 0`));
};

/** The operator's drain check: each pod once seen without queries. */
const drained = (pods: readonly StandInEngine[]): Promise<unknown> =>
  Promise.all(pods.map((pod) => eventually(() => isDrained(pod))));

const end = (pods: readonly StandInEngine[]): Promise<unknown> => Promise.all(pods.map((pod) => pod.process.stop()));

function expectEachOnce(markers: readonly string[], pods: readonly StandInEngine[]): void {
  const counts = new Map<string, number>();
  for (const marker of pods.flatMap((pod) => pod.markers())) counts.set(marker, (counts.get(marker) ?? 0) + 1);
  expect(markers.filter((marker) => counts.get(marker) !== 1)).toEqual([]);
}

const whoami = async (engine: string): Promise<unknown> =>
  (await harness.client.query({ engine, sql: "SELECT whoami()" })).value;

test.each([1, 2])("generations replace each other under load without a failed query, %i pod(s)", async (replicas) => {
  const engine = `roll${replicas}`;
  let serving = await startGeneration(engine, 0, replicas);
  const everyone = [...serving];
  harness.publish(engine, serving);
  const load = startQueryLoad(harness.client, { engine, clients: CLIENTS });
  for (let generation = 1; generation <= 3; generation++) {
    const next = await startGeneration(engine, generation, replicas);
    everyone.push(...next);
    harness.publish(engine, next);
    await drained(serving);
    await end(serving);
    serving = next;
  }
  expectEachOnce(await load.stop(), everyone);
});

test.each([
  { name: "leave the Service", ending: undefined },
  { name: "are killed", ending: "SIGKILL" },
] as const)("names that change a second after the old pods $name", async ({ ending }) => {
  const engine = `slow-${ending === undefined ? "term" : "kill"}`;
  const [old, next] = [await startGeneration(engine, 0, 1), await startGeneration(engine, 1, 1)];
  harness.publish(engine, old);
  await harness.client.query({ engine });
  // Idle when its pod is deleted, so that the next query is sent to a stale address.
  await Promise.all(old.map((pod) => pod.process.stop(ending)));
  const load = startQueryLoad(harness.client, { engine, clients: CLIENTS });
  await sleep(1_000);
  harness.publish(engine, next);
  await eventually(() => load.answered.length > CLIENTS);
  expectEachOnce(await load.stop(), next);
});

test("DNS records that change right after the gateway's lookup", async () => {
  const engine = "unlucky";
  const [old, next] = [await startGeneration(engine, 0, 1), await startGeneration(engine, 1, 1)];
  harness.publish(engine, old);
  await harness.client.query({ engine });
  await end(old);
  const asked = harness.dns.asked(serviceHost(engine));
  const queries = Array.from({ length: 100 }, () => harness.client.query({ engine, sql: "SELECT 7" }));
  await eventually(() => harness.dns.asked(serviceHost(engine)) > asked);
  harness.publish(engine, next);
  expect((await Promise.all(queries)).map((answer) => answer.value)).toEqual(queries.map(() => 7));
});

test("the old generation gets no new query once its addresses are removed, even if it is healthy", async () => {
  const engine = "leave";
  const [old, next] = [await startGeneration(engine, 0, 2), await startGeneration(engine, 1, 2)];
  harness.publish(engine, old);
  const load = startQueryLoad(harness.client, { engine, clients: CLIENTS });
  await eventually(() => load.answered.length > CLIENTS);
  harness.publish(engine, next);
  await eventually(() => next.every((pod) => pod.markers().length > 0));
  await eventually(async () => {
    const clusters = await harness.envoy.admin("/clusters");
    expect(next.map(({ address }) => clusters.includes(`${address}:`))).toEqual(next.map(() => true));
    expect(old.map(({ address }) => clusters.includes(`${address}:`))).toEqual(old.map(() => false));
  });
  // Some of these went to the old pods while those had addresses.
  const early = [...load.inFlight];
  await eventually(() => early.every((id) => !load.inFlight.has(id)));
  const before = old.map((pod) => pod.markers().length);
  const later = load.answered.length + 500;
  await eventually(() => load.answered.length > later);
  expect(old.map((pod) => pod.markers().length)).toEqual(before);
  expectEachOnce(await load.stop(), [...old, ...next]);
});

test("a long query stays on its pod and gets its response, whatever else changes", async () => {
  const engine = "long";
  const [old, next] = [await startGeneration(engine, 0, 1), await startGeneration(engine, 1, 1)];
  harness.publish(engine, old);
  await harness.client.query({ engine });
  const long = harness.client.query({ engine, sql: "SELECT sleep(7000)" });
  const [pod] = old;
  await eventually(async () => pod !== undefined && !(await isDrained(pod)));
  harness.publish(engine, next);
  await eventually(async () => (await whoami(engine)) === "long-g1-0");
  await end(old);
  expect((await long).value).toBe(7_000);
});

describe("a pod that is not ready", () => {
  test("gets no query while another is", async () => {
    const engine = "unready";
    const pods = await startGeneration(engine, 0, 2);
    const [bad, good] = pods;
    if (bad === undefined || good === undefined) throw new Error("two pods were requested");
    harness.publish(engine, pods);
    await harness.client.query({ engine });
    await bad.control("/test/ready?v=0");
    await eventually(async () => {
      const names = await Promise.all(Array.from({ length: 10 }, () => whoami(engine)));
      return names.every((name) => name === good.pod);
    });
  });
});

describe("the name server", () => {
  test.each(["silent", "servfail"] as const)("%s: known engines stay reachable", async (behaviour) => {
    const engine = `dns-${behaviour}`;
    harness.publish(engine, await startGeneration(engine, 0, 1));
    await harness.client.query({ engine });
    harness.dns.behave(behaviour);
    try {
      const asked = harness.dns.asked(serviceHost(engine));
      await eventually(() => harness.dns.asked(serviceHost(engine)) > asked + 1);
      await harness.client.query({ engine });
    } finally {
      harness.dns.behave("answer");
    }
  });

  test("an engine that is started again is found", async () => {
    const engine = "again";
    const pods = await startGeneration(engine, 0, 1);
    harness.publish(engine, []);
    expect((await harness.client.send({ engine })).status).toBe(503);
    harness.publish(engine, pods);
    await eventually(async () => (await harness.client.send({ engine })).status === 200, { timeoutMs: 30_000 });
  });
});
