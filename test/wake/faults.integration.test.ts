// Faults during a hold: the agent is killed, restarted, paused or cut off from the API server; the queue is full;
// clients disconnect or arrive in bursts. Running engines are never affected, and no request hangs beyond its deadline.
import { readFileSync } from "node:fs";
import { openApiFromKubeconfig, startTcpProxy, type TcpProxy } from "@firebolt-operator/kube/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { wakeAgentRules } from "../../src/gateway/wake-container.ts";
import { REPEAT_MS } from "../../src/wake-agent/wake-requester.ts";
import { eventually, requestAs } from "../harness/control-plane/requests.ts";
import type { GatewayClient } from "../harness/envoy/gateway-client.ts";
import { startQueryLoad } from "../harness/envoy/query-load.ts";
import { openWakeHarness, openWakePlane, type WakeHarness, type WakePlane } from "./support/wake-harness.ts";

let plane: WakePlane;
let harness: WakeHarness;

beforeAll(async () => {
  plane = await openWakePlane();
});
afterEach(() => harness?.[Symbol.asyncDispose]());
afterAll(() => plane?.[Symbol.asyncDispose]());

const RETRY = { "retry-after": "10" };
/** Far less than the 120 s for which an agent holds a query: a response within this time was not held. */
const AT_ONCE_MS = 30_000;

async function createRunning(name: string): Promise<void> {
  await harness.engineHarness.createEngine(name, { replicas: 1 });
  await harness.engineHarness.settled(name, 0);
}

/** How long it takes, in milliseconds, and what comes of it. */
async function timed<T>(work: Promise<T>): Promise<readonly [number, T]> {
  const began = performance.now();
  const result = await work;
  return [performance.now() - began, result];
}

/** An agent that reaches the API server through a proxy. */
async function proxied(): Promise<{ readonly proxy: TcpProxy; readonly kubeconfig: string }> {
  const proxy = await startTcpProxy(plane.url);
  const text = readFileSync(harness.kubeconfig, "utf8").replaceAll(plane.url, `https://127.0.0.1:${proxy.port}`);
  return { proxy, kubeconfig: harness.workspace.write("proxied.kubeconfig", text) };
}

test("agent-killed, running-engines-need-no-agent: queries for a running engine go on while the agent is killed, restarted and paused", async () => {
  harness = await openWakeHarness(plane, "killed");
  await createRunning("e");
  const gateway = await harness.gateway();
  const client = harness.client(gateway);
  const load = startQueryLoad(client, { engine: "e", clients: 4 });
  await eventually(() => load.answered.length > 50);
  await gateway.agent().stop("SIGKILL");
  const killedAt = load.answered.length;
  await eventually(() => load.answered.length > killedAt + 100);
  await gateway.startAgent();
  const restartedAt = load.answered.length;
  await eventually(() => load.answered.length > restartedAt + 100);
  // Paused: it accepts connections and does not respond.
  process.kill(gateway.agent().pid, "SIGSTOP");
  const pausedAt = load.answered.length;
  await client.query({ engine: "e", path: "/?query_label=paused" });
  await eventually(() => load.answered.length > pausedAt + 100);
  process.kill(gateway.agent().pid, "SIGCONT");
  await load.stop();
  expect(await gateway.tookMs("paused")).toBeLessThan(AT_ONCE_MS);
  console.log(`agent killed, restarted, paused: ${client.sent} requests sent, ${client.failed} failed`);
  expect(client.failed).toBe(0);
});

test("requests held by an agent that is killed end at once; the next agent holds again", async () => {
  harness = await openWakeHarness(plane, "orphaned");
  await harness.createStopped("e", { template: { spec: { nodeSelector: harness.engineHarness.hold } } });
  const gateway = await harness.gateway();
  const client = harness.client(gateway);
  const held = [client.send({ engine: "e" }), client.send({ engine: "e" })];
  await eventually(async () => (await gateway.demand("pending_holds", "e")) === 2);
  await gateway.agent().stop("SIGKILL");
  const [ms, answers] = await timed(Promise.all(held));
  expect(answers.map(({ status }) => status)).toEqual([503, 503]);
  expect(ms).toBeLessThan(AT_ONCE_MS);
  await gateway.startAgent();
  await eventually(async () => (await client.send({ engine: "nobody" })).status === 404);
  const again = client.query({ engine: "e" });
  await eventually(async () => (await gateway.demand("pending_holds", "e")) === 1);
  await harness.engineHarness.release();
  await again;
});

test("wake-fails-open: an agent that never reached the API server lets every query pass immediately", async () => {
  harness = await openWakeHarness(plane, "unsynced");
  await createRunning("up");
  await harness.createStopped("down");
  const { proxy, kubeconfig } = await proxied();
  proxy.refuse(true);
  const gateway = await harness.gateway({ kubeconfig, awaitView: false });
  const client = harness.client(gateway);
  await client.query({ engine: "up" });
  const [ms, answer] = await timed(client.send({ engine: "down" }));
  expect(answer).toMatchObject({ status: 503, headers: RETRY });
  expect(ms).toBeLessThan(AT_ONCE_MS);
  proxy.refuse(false);
  await eventually(async () => (await client.send({ engine: "nobody" })).status === 404, { timeoutMs: 120_000 });
  await client.query({ engine: "down" });
  await proxy[Symbol.asyncDispose]();
});

test("cut off from the API server: running engines pass, a stopped one waits, and one that comes up meanwhile is noticed", async () => {
  harness = await openWakeHarness(plane, "cut");
  await createRunning("up");
  await harness.createStopped("e");
  await harness.createStopped("other");
  const { proxy, kubeconfig } = await proxied();
  const gateway = await harness.gateway({ kubeconfig, agentFlags: ["--hold-timeout=30s"] });
  const client = harness.client(gateway);
  await eventually(async () => (await client.send({ engine: "nobody" })).status === 404);
  proxy.refuse(true);
  await client.query({ engine: "up" });
  const waiting = client.query({ engine: "e" });
  const timedOut = timed(client.send({ engine: "other" }));
  await eventually(async () => (await gateway.demand("pending_holds", "e")) === 1);
  // The agent can neither stamp nor observe it, but the engine is started otherwise.
  await harness.engineHarness.edit("e", { replicas: 1 });
  await waiting;
  const [ms, answer] = await timedOut;
  expect(answer).toMatchObject({ status: 503, headers: RETRY, text: "engine is not available; retry shortly" });
  expect(ms).toBeGreaterThan(29_000);
  expect(ms).toBeLessThan(30_000 + AT_ONCE_MS);
  // What could not be stamped while cut off is stamped afterwards.
  const late = client.query({ engine: "other" });
  await eventually(async () => (await gateway.demand("pending_holds", "other")) === 1);
  proxy.refuse(false);
  await late;
  await proxy[Symbol.asyncDispose]();
});

/** Until the engine's name is in DNS the gateway has a 503 for it. Never a 404. */
async function servedWithout404(client: GatewayClient, engine: string): Promise<void> {
  const statuses: number[] = [];
  await eventually(async () => {
    statuses.push((await client.send({ engine })).status);
    return statuses.at(-1) === 200 || statuses.at(-1) === 404;
  });
  expect(statuses).not.toContain(404);
}

/** The permissions of the gateway's account: none, or those that the operator grants. */
async function grant(rules: readonly object[]): Promise<void> {
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${harness.engineHarness.namespace}/roles/main-gateway`;
  const contentType = "application/merge-patch+json";
  await requestAs(plane.kubeconfig, { method: "PATCH", path, contentType, body: { rules } });
  const api = openApiFromKubeconfig(harness.kubeconfig);
  const engines = `/apis/compute.firebolt.io/v1alpha1/namespaces/${harness.engineHarness.namespace}/fireboltengines`;
  try {
    await eventually(async () => (await api.send({ path: engines })).status === (rules.length === 0 ? 403 : 200));
  } finally {
    api.close();
  }
}

test("an engine created while the agent's watches are broken is served, not unknown; once they are back, names are unknown again", async () => {
  harness = await openWakeHarness(plane, "blind");
  const { proxy, kubeconfig } = await proxied();
  const gateway = await harness.gateway({ kubeconfig });
  const client = harness.client(gateway);
  expect((await client.send({ engine: "nobody" })).status).toBe(404);
  await grant([]);
  // Permissions are checked when a watch is opened.
  proxy.cut();
  await createRunning("late");
  await servedWithout404(client, "late");
  expect((await client.send({ engine: "nobody" })).status).toBe(503);
  await grant(wakeAgentRules());
  await eventually(async () => (await client.send({ engine: "nobody" })).status === 404, { timeoutMs: 90_000 });
  await client.query({ engine: "late" });
  await proxy[Symbol.asyncDispose]();
});

test("an engine created while the agent's watches have stalled, unnoticed, is served, not unknown", async () => {
  harness = await openWakeHarness(plane, "stalled");
  const { proxy, kubeconfig } = await proxied();
  const gateway = await harness.gateway({ kubeconfig });
  const client = harness.client(gateway);
  expect((await client.send({ engine: "nobody" })).status).toBe(404);
  proxy.blackhole(true);
  await createRunning("late");
  await servedWithout404(client, "late");
  expect((await client.send({ engine: "nobody" })).status).toBe(503);
  proxy.blackhole(false);
  await eventually(async () => (await client.send({ engine: "nobody" })).status === 404, { timeoutMs: 90_000 });
  await client.query({ engine: "late" });
  await proxy[Symbol.asyncDispose]();
});

const EIGHT_HOLDS = ["--envoy-memory-limit-bytes=0", "--fallback-hold-cap=8"];

const DENIED =
  'engine "e" is stopped, and the API server rejects this gateway\'s wake request: its service account was replaced or lost its permission; retry shortly';

test("an account without permissions: the query is held, fails with the cause on timeout, and succeeds once they are restored", async () => {
  harness = await openWakeHarness(plane, "permissions");
  await harness.createStopped("e");
  const gateway = await harness.gateway({ agentFlags: ["--hold-timeout=40s"] });
  const client = harness.client(gateway);
  await grant([]);
  const [ms, answer] = await timed(client.send({ engine: "e" }));
  expect(answer).toMatchObject({ status: 503, headers: RETRY, text: DENIED });
  expect(ms).toBeGreaterThan(39_000);
  const late = client.query({ engine: "e" });
  await eventually(async () => (await gateway.demand("pending_holds", "e")) === 1);
  await grant(wakeAgentRules("annotation"));
  await late;
}, 300_000);

test("an account that is deleted and created again: the query waits until the agent's token is a new one", async () => {
  harness = await openWakeHarness(plane, "account");
  await harness.createStopped("e");
  const tokenOf = (kubeconfig: string): string => /token:\s*(\S+)/.exec(readFileSync(kubeconfig, "utf8"))?.[1] ?? "";
  const stale = tokenOf(harness.kubeconfig);
  const tokenFile = harness.workspace.write("agent.token", stale);
  const text = readFileSync(harness.kubeconfig, "utf8").replace(/token:\s*\S+/, `tokenFile: ${tokenFile}`);
  const gateway = await harness.gateway({ kubeconfig: harness.workspace.write("by-file.kubeconfig", text) });
  const client = harness.client(gateway);
  const path = `/api/v1/namespaces/${harness.engineHarness.namespace}/serviceaccounts/main-gateway`;
  await requestAs(plane.kubeconfig, { method: "DELETE", path });
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${harness.engineHarness.namespace}/endpointslices`;
  const former = openApiFromKubeconfig(harness.kubeconfig);
  await eventually(async () => (await former.send({ path: slices })).status === 401, { timeoutMs: 120_000 });
  former.close();
  const held = client.query({ engine: "e", deadlineMs: 120_000 });
  await eventually(async () => (await gateway.demand("pending_holds", "e")) === 1);
  await eventually(async () => (await gateway.demand('api_errors_total{operation="write"}')) > 0);
  // What the kubelet does for a new pod.
  harness.workspace.write("agent.token", tokenOf(await plane.accountKubeconfig(harness.engineHarness.namespace)));
  await held;
}, 300_000);

test("a forgotten dashboard floods an engine that cannot start: another engine still wakes by a query", async () => {
  harness = await openWakeHarness(plane, "dashboard");
  await harness.createStopped("flooded", { template: { spec: { nodeSelector: harness.engineHarness.hold } } });
  await harness.createStopped("e");
  const gateway = await harness.gateway({ agentFlags: EIGHT_HOLDS });
  const client = harness.client(gateway);
  const leaving = new AbortController();
  const { signal } = leaving;
  const flood = Promise.allSettled(Array.from({ length: 40 }, () => client.send({ engine: "flooded", signal })));
  await eventually(async () => (await gateway.demand("shed_total", "flooded")) === 32);
  expect(await gateway.demand("pending_holds", "flooded")).toBe(8);
  await client.query({ engine: "e" });
  leaving.abort();
  await flood;
});

test("a query for an engine that no query can start is rejected after a few seconds, and holds its slot no longer", async () => {
  harness = await openWakeHarness(plane, "off");
  await harness.engineHarness.createEngine("off", { replicas: 0 });
  await harness.engineHarness.until("off", ({ status }) => status?.autoStopReason === "Disabled", "off");
  const gateway = await harness.gateway({ agentFlags: EIGHT_HOLDS });
  const client = harness.client(gateway);
  const dashboard = Array.from({ length: 8 }, () => client.send({ engine: "off", path: "/?query_label=off" }));
  const answers = await Promise.all(dashboard);
  expect(answers).toEqual(
    answers.map(() => expect.objectContaining({ status: 503, headers: expect.objectContaining(RETRY) })),
  );
  expect(await gateway.tookMs("off")).toBeLessThan(60_000);
  expect(await gateway.demand("pending_holds", "off")).toBe(0);
  // Started manually: from then on queries wait for it.
  await harness.engineHarness.edit("off", { replicas: 1 });
  await eventually(async () => (await client.send({ engine: "off" })).status === 200);
});

test("more-queries-than-room, shed-demand-still-wakes: with one slot, the second query is rejected immediately and the engine still starts", async () => {
  harness = await openWakeHarness(plane, "shed");
  await harness.createStopped("e", { template: { spec: { nodeSelector: harness.engineHarness.hold } } });
  const gateway = await harness.gateway({ agentFlags: ["--envoy-memory-limit-bytes=0", "--fallback-hold-cap=1"] });
  const client = harness.client(gateway);
  const first = client.query({ engine: "e" });
  await eventually(async () => (await gateway.demand("pending_holds", "e")) === 1);
  const second = await client.send({ engine: "e", path: "/?query_label=second" });
  expect(second).toMatchObject({ status: 503, headers: RETRY });
  expect(await gateway.tookMs("second")).toBeLessThan(AT_ONCE_MS);
  expect(await gateway.demand("shed_total", "e")).toBe(1);
  await harness.engineHarness.release();
  await first;
});

test("shed-demand-still-wakes: without any slot the engine is woken by a rejected query", async () => {
  harness = await openWakeHarness(plane, "none");
  await harness.createStopped("e");
  const gateway = await harness.gateway({ agentFlags: ["--envoy-memory-limit-bytes=0", "--fallback-hold-cap=0"] });
  const client = harness.client(gateway);
  expect((await client.send({ engine: "e" })).status).toBe(503);
  await harness.engineHarness.until(
    "e",
    ({ status, spec }) => status?.phase === "stable" && spec?.replicas === 1,
    "woken",
  );
  await client.query({ engine: "e" });
});

test("client-leaves-while-held: a client that leaves has woken the engine nevertheless", async () => {
  harness = await openWakeHarness(plane, "left");
  await harness.createStopped("e", { template: { spec: { nodeSelector: harness.engineHarness.hold } } });
  const gateway = await harness.gateway();
  const leaving = new AbortController();
  const left = expect(harness.client(gateway).send({ engine: "e", signal: leaving.signal })).rejects.toThrow("aborted");
  await eventually(async () => (await gateway.demand("pending_holds", "e")) === 1);
  leaving.abort();
  await left;
  await eventually(async () => (await gateway.demand("pending_holds", "e")) === 0);
  expect(await gateway.demand("last_demand_timestamp_seconds", "e")).toBeGreaterThan(0);
  await harness.engineHarness.release();
  await harness.engineHarness.until(
    "e",
    ({ status, spec }) => status?.phase === "stable" && spec?.replicas === 1,
    "woken",
  );
});

test("held-engine-cannot-start: an engine that cannot start: 503 with Retry-After when the hold expires", async () => {
  harness = await openWakeHarness(plane, "stuck");
  await harness.createStopped("e", { template: { spec: { nodeSelector: harness.engineHarness.hold } } });
  const gateway = await harness.gateway({ agentFlags: ["--hold-timeout=3s"] });
  const [ms, answer] = await timed(harness.client(gateway).send({ engine: "e" }));
  expect(answer).toMatchObject({ status: 503, headers: RETRY, text: "engine is not available; retry shortly" });
  expect(ms).toBeGreaterThan(2_900);
  expect(ms).toBeLessThan(3_000 + AT_ONCE_MS);
});

test("an engine that is deleted while a query waits: 404 immediately", async () => {
  harness = await openWakeHarness(plane, "deleted");
  await harness.createStopped("e", { template: { spec: { nodeSelector: harness.engineHarness.hold } } });
  const gateway = await harness.gateway();
  const held = harness.client(gateway).send({ engine: "e" });
  await eventually(async () => (await gateway.demand("pending_holds", "e")) === 1);
  const path = `/apis/compute.firebolt.io/v1alpha1/namespaces/${harness.engineHarness.namespace}/fireboltengines/e`;
  await requestAs(plane.kubeconfig, { method: "DELETE", path });
  expect((await held).status).toBe(404);
});

test("health-probes-wake-nobody: probes wake no engine, nor do unknown names: 2000 of them get a 404, no series and hardly a request", async () => {
  harness = await openWakeHarness(plane, "unknown");
  await harness.createStopped("e");
  const gateway = await harness.gateway();
  const client = harness.client(gateway);
  await eventually(async () => (await client.send({ engine: "nobody" })).status === 404);
  const before = plane.agentRequests(harness.engineHarness.namespace);
  for (let probe = 0; probe < 50; probe++)
    expect((await client.send({ path: "/healthz", method: "GET" })).status).toBe(200);
  const answer = await client.send({ engine: "no-such-engine", path: "/?query_label=unknown" });
  expect(answer).toMatchObject({ status: 404, text: 'there is no engine "no-such-engine" in this namespace' });
  expect(await gateway.tookMs("unknown")).toBeLessThan(AT_ONCE_MS);
  const began = performance.now();
  for (let batch = 0; batch < 40; batch++) {
    const names = Array.from({ length: 50 }, (_, index) => `x${batch}-${index}`);
    const answers = await Promise.all(names.map((engine) => client.send({ engine })));
    expect(answers.every(({ status }) => status === 404)).toBe(true);
  }
  const seconds = (performance.now() - began) / 1_000;
  const page = await (await fetch(`http://127.0.0.1:${gateway.demandPort}/demand`)).text();
  expect(page).not.toContain("engine=");
  expect(harness.stamps("e")).toBe(0);
  expect(harness.engineHarness.engine("e").spec?.replicas).toBe(0);
  // That a name is no engine is confirmed for ten names in two seconds, however many are made up.
  const askedMs = performance.now();
  await client.query({ engine: "e" });
  const stamps = 1 + Math.floor((performance.now() - askedMs) / REPEAT_MS);
  // Last, because the audit log records a request a moment after its response.
  const asked = plane.agentRequests(harness.engineHarness.namespace).slice(before.length);
  const confirmed = asked.filter((request) => /^get fireboltengines\/(x\d|no-such-engine|nobody)/.test(request));
  expect(confirmed.length).toBeLessThanOrEqual(2 + 10 * (1 + Math.ceil(seconds / 2)));
  const others = asked.filter((request) => !confirmed.includes(request));
  expect([...new Set(others)]).toEqual(["patch fireboltengines/e"]);
  expect(others.length).toBeLessThanOrEqual(stamps);
});
