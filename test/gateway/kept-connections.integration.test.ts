// No query is lost on a kept connection: engines move to other pods under load, pods are deleted one by one, the agent ends and comes back.
// Pods end like the worst engine, which closes idle connections at once; the pause before that is
// shorter than in a cluster, where it is 5 s.
import { once } from "node:events";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import { type BriefPod, startBriefPod } from "./support/brief-pods.ts";
import { type DiscoveryHarness, openDiscoveryHarness } from "./support/discovery-harness.ts";

let harness: DiscoveryHarness;
let load: Load | undefined;
const pods: BriefPod[] = [];

afterEach(async () => {
  await load?.stop();
  load = undefined;
  await harness?.[Symbol.asyncDispose]();
  await Promise.allSettled(pods.splice(0).map((pod) => pod.end()));
});

async function start(engine: string, generation: number, count: number): Promise<BriefPod[]> {
  const names = Array.from({ length: count }, (_, index) => `${engine}-g${generation}-${index}`);
  // Addresses are used again, as in a cluster.
  const started = await Promise.all(names.map((name) => startBriefPod(name, harness.nextAddress())));
  pods.push(...started);
  return started;
}

async function end(ending: readonly BriefPod[]): Promise<void> {
  await Promise.all(ending.map((pod) => pod.end()));
  for (const pod of ending) pods.splice(pods.indexOf(pod), 1);
}

interface Load {
  readonly sent: () => number;
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

/** The most that are on their way: on a machine that cannot keep up with the rate, queries would pile up in this very process. */
const MOST_RUNNING = 64;

/** Queries at a steady rate on kept client connections; one in 25 takes longer than a switch. */
function startLoad(engine: string, perSecond: number, longMs: number): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const failures: string[] = [];
  const running = new Set<Promise<void>>();
  let sent = 0;
  const query = async (index: number): Promise<void> => {
    const body = index % 25 === 0 ? `wait ${longMs}` : "SELECT 1";
    const headers = { "X-Firebolt-Engine": engine, "Content-Length": body.length };
    const call = request({ host: "127.0.0.1", port: harness.clientPort, method: "POST", agent, headers });
    call.end(body);
    try {
      const [response] = await once(call, "response", { signal: AbortSignal.timeout(60_000) });
      let text = "";
      for await (const chunk of response) text += chunk;
      if (response.statusCode !== 200) failures.push(`${response.statusCode} ${text}`);
    } catch (error) {
      failures.push(String(error));
    }
  };
  const periodMs = 20;
  let owed = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    owed += Math.min(now - lastMs, 1_000) * (perSecond / 1_000);
    lastMs = now;
    for (; owed >= 1; owed--) {
      if (running.size >= MOST_RUNNING) continue;
      const one = query(sent++).finally(() => running.delete(one));
      running.add(one);
    }
  }, periodMs);
  return {
    sent: () => sent,
    failures,
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
      agent.destroy();
    },
  };
}

interface Switches {
  readonly engine: string;
  readonly count: number;
  readonly perSecond: number;
  /** From the publication of the new pods to the end of the old ones. */
  readonly pauseMs: number;
  /** How long one query in 25 takes. */
  readonly longMs: number;
  readonly during?: (index: number) => Promise<void>;
}

async function switchUnderLoad({ engine, count, perSecond, pauseMs, longMs, during }: Switches): Promise<number> {
  let serving = await start(engine, 0, 2);
  harness.publish(engine, serving);
  await eventually(() => harness.discovery().connected);
  load = startLoad(engine, perSecond, longMs);
  const running = load;
  await eventually(() => running.sent() > 50);
  for (let generation = 1; generation <= count; generation++) {
    const next = await start(engine, generation, 2);
    harness.publish(engine, next);
    await during?.(generation);
    await sleep(pauseMs);
    const old = serving;
    serving = next;
    await end(old);
  }
  await load.stop();
  const { failures } = load;
  console.log(`kept connections, ${engine}: ${count} switches, ${running.sent()} queries, ${failures.length} lost`);
  expect(failures).toEqual([]);
  return running.sent();
}

test("100 switches at 200 queries per second: no query is lost, and few connections are opened", async () => {
  harness = await openDiscoveryHarness();
  const sent = await switchUnderLoad({ engine: "roll", count: 100, perSecond: 200, pauseMs: 500, longMs: 1_000 });
  expect(await harness.envoy.statistic("cluster.roll.upstream_cx_total")).toBeLessThan(sent / 2);
  expect(await harness.envoy.statistic("cluster.roll.upstream_cx_destroy_remote_with_active_rq")).toBe(0);
}, 300_000);

test("pods are deleted one by one while the others serve: no query is lost", async () => {
  harness = await openDiscoveryHarness();
  let serving = await start("evict", 0, 3);
  harness.publish("evict", serving);
  await eventually(() => harness.discovery().connected);
  load = startLoad("evict", 200, 1_000);
  const running = load;
  for (let turn = 1; turn <= 40; turn++) {
    const [leaving, ...staying] = serving;
    if (leaving === undefined) throw new Error("no pod");
    harness.publish("evict", staying);
    const [replacement] = await start("evict", 0, 1);
    if (replacement === undefined) throw new Error("no pod");
    serving = [...staying, replacement];
    harness.publish("evict", serving);
    await sleep(500);
    await end([leaving]);
  }
  await load.stop();
  console.log(`kept connections: 40 pods deleted, ${running.sent()} queries, ${load.failures.length} lost`);
  expect(load.failures).toEqual([]);
}, 300_000);

test("the agent ends and comes back during switches: queries go by name meanwhile, and none is lost", async () => {
  harness = await openDiscoveryHarness();
  await switchUnderLoad({
    engine: "agentless",
    count: 12,
    perSecond: 200,
    // A frozen view is left within about two seconds, and a name is looked up every two: the pause of a cluster.
    pauseMs: 5_000,
    longMs: 7_000,
    during: async (generation) => {
      if (generation % 3 === 1) await harness.stopAgent();
      if (generation % 3 === 2) await harness.startAgent();
    },
  });
  expect(await harness.envoy.statistic("vhost.default.route.by_name.upstream_rq_total")).toBeGreaterThan(0);
  expect(await harness.envoy.statistic("cluster.agentless.upstream_rq_total")).toBeGreaterThan(0);
}, 300_000);
