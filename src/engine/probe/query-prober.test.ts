// What the prober reports to passes, when it enqueues engines, and which pods wait for which. The clock is manual.
import { KubeApiError, KubeTimeoutError, silentLogger } from "@firebolt-operator/kube";
import { ManualClock } from "@firebolt-operator/kube/testing";
import { expect, test } from "vitest";
import { metricsOf, podOf, probeHarness } from "../../../test/engine/support/probe-harness.ts";
import { ENGINE_CONTRACT } from "../../api/engine-contract.ts";
import type { Pod } from "../model/children.ts";
import { createQueryProber } from "./query-prober.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

const PENDING = { type: "pending" };
const IDLE = { type: "idle" };
const pods = (...names: readonly string[]): readonly Pod[] => names.map((name) => podOf(name));
const numbered = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const silence = new KubeTimeoutError("no response headers within 3000 ms");

test("without pods a generation is idle, and nothing is probed", () => {
  const harness = probeHarness();
  expect(harness.ask([])).toEqual(IDLE);
  expect(harness.started).toEqual([]);
});

test("a first request requests the probes; the engine is enqueued when every pod has a result", async () => {
  const harness = probeHarness();
  const both = pods("a", "b");
  expect(harness.ask(both)).toEqual(PENDING);
  expect(harness.started).toEqual(["a", "b"]);
  await harness.respond("a");
  expect(harness.enqueued).toEqual([]);
  await harness.respond("b");
  expect(harness.enqueued).toEqual(["ns/e"]);
  expect(harness.ask(both)).toEqual(IDLE);
  expect(harness.started).toHaveLength(2);
});

test("while one pod has no result the generation is pending, whatever the others run", async () => {
  const harness = probeHarness();
  harness.ask(pods("a", "b"));
  await harness.respond("a", metricsOf(3));
  expect(harness.ask(pods("a", "b"))).toEqual(PENDING);
});

test("of several pods that are not idle, the first in order is reported", async () => {
  const harness = probeHarness();
  harness.ask(pods("a", "b", "c"));
  await harness.respond("c", new Error("refused"));
  await harness.respond("b", metricsOf(2, 1));
  await harness.respond("a");
  expect(harness.ask(pods("a", "b", "c"))).toEqual({ type: "busy", pod: "b", queries: 3 });
  expect(harness.ask(pods("a", "c", "b"))).toEqual({ type: "failing", pod: "c", cause: "refused" });
});

test.each([
  ["running queries", metricsOf(2), { type: "busy", queries: 2 }],
  ["suspended queries", metricsOf(0, 1), { type: "busy", queries: 1 }],
  ["no queries", metricsOf(0), { type: "idle" }],
  [
    "another status",
    { status: 403, body: "" },
    { type: "failing", cause: "the metrics endpoint responded with status 403", isForbidden: true },
  ],
  [
    "no gauges",
    { status: 200, body: "" },
    { type: "failing", cause: `no usable value for ${GAUGE.running} and ${GAUGE.suspended}` },
  ],
  ["no number", metricsOf("NaN"), { type: "failing", cause: `no usable value for ${GAUGE.running}` }],
  ["a negative number", metricsOf(0, -1), { type: "failing", cause: `no usable value for ${GAUGE.suspended}` }],
  ["an error", new Error("connection\n  refused"), { type: "failing", cause: "connection refused" }],
])("one pod, %s", async (_, answer, want) => {
  const harness = probeHarness();
  harness.ask(pods("a"));
  await harness.respond("a", answer);
  expect(harness.ask(pods("a"))).toEqual(want.type === "idle" ? want : { ...want, pod: "a" });
});

test("however many passes request it, a pod has one probe at a time", async () => {
  const harness = probeHarness();
  for (let pass = 0; pass < 5; pass++) expect(harness.ask(pods("a"))).toEqual(PENDING);
  expect(harness.ask(pods("a"), {}, "other")).toEqual(PENDING);
  expect(harness.started).toEqual(["a"]);
  await harness.respond("a");
  expect(harness.enqueued).toEqual(["ns/e", "ns/other"]);
});

test("a replaced pod of the same name is another pod", async () => {
  const harness = probeHarness();
  harness.ask([podOf("a", { uid: "first" })]);
  await harness.respond("a");
  expect(harness.ask([podOf("a", { uid: "second" })])).toEqual(PENDING);
  expect(harness.started).toEqual(["a", "a"]);
});

test("a replaced pod that does not respond delays no result of its replacement", async () => {
  const harness = probeHarness();
  harness.ask([podOf("a", { uid: "first" })]);
  const [first] = harness.running;
  harness.ask([podOf("a", { uid: "second" })]);
  for (const scrape of harness.running) if (scrape.uid === "second") scrape.respond(metricsOf(0));
  await harness.clock.advance(0);
  expect(first?.signal.aborted).toBe(false);
  expect(harness.enqueued).toEqual(["ns/e"]);
});

test("two generations of one engine do not displace each other", async () => {
  const harness = probeHarness();
  harness.ask(pods("old"));
  harness.ask(pods("new"));
  await harness.respond("new");
  expect(harness.ask(pods("new"))).toEqual(IDLE);
  await harness.respond("old", metricsOf(1));
  expect(harness.enqueued).toEqual(["ns/e", "ns/e"]);
  expect(harness.ask(pods("old"))).toMatchObject({ type: "busy" });
});

test("a result counts for freshMs after a pass read it, and is then requested again", async () => {
  const harness = probeHarness();
  harness.ask(pods("a"));
  await harness.respond("a");
  await harness.clock.advance(30_000);
  expect(harness.ask(pods("a"))).toEqual(IDLE);
  await harness.clock.advance(4_999);
  expect(harness.ask(pods("a"))).toEqual(IDLE);
  await harness.clock.advance(1);
  expect(harness.ask(pods("a"))).toEqual(PENDING);
  expect(harness.started).toHaveLength(2);
});

test("a result that no pass has read counts for a minute", async () => {
  const harness = probeHarness();
  harness.ask(pods("a", "b"));
  await harness.respond("a");
  await harness.respond("b", metricsOf(1));
  await harness.clock.advance(59_999);
  expect(harness.ask(pods("a"))).toEqual(IDLE);
  await harness.clock.advance(1);
  expect(harness.ask(pods("b"))).toEqual(PENDING);
});

test("a failure that no pass has read waits longer, so that two probed more than a minute apart still meet", async () => {
  const harness = probeHarness({ concurrency: 1 });
  const others = numbered("other", 6);
  harness.ask(pods("a"));
  harness.ask(pods(...others), {}, "others");
  harness.ask(pods("a", "b"));
  await harness.respond("a", silence);
  await harness.clock.advance(others.length * 15_000);
  await harness.respond("b", silence);
  expect(harness.ask(pods("a", "b"))).toMatchObject({ type: "failing", pod: "a" });
  expect(harness.started).toEqual(["a", ...others, "b"]);
});

test("a probe that takes longer than freshMs still counts", async () => {
  const harness = probeHarness();
  harness.ask(pods("a"), { freshMs: 1 });
  await harness.clock.advance(9_000);
  await harness.respond("a", metricsOf(1));
  await harness.clock.advance(2_000);
  expect(harness.ask(pods("a"), { freshMs: 1 })).toMatchObject({ type: "busy" });
});

test("a pass that still waits for another pod does not use a result up", async () => {
  const harness = probeHarness();
  harness.ask(pods("a", "b"), { freshMs: 0 });
  await harness.respond("a");
  expect(harness.ask(pods("a", "b"), { freshMs: 0 })).toEqual(PENDING);
  await harness.clock.advance(9_000);
  await harness.respond("b");
  expect(harness.ask(pods("a", "b"), { freshMs: 0 })).toEqual(IDLE);
  expect(harness.started).toEqual(["a", "b"]);
  expect(harness.ask(pods("a", "b"), { freshMs: 0 })).toEqual(PENDING);
});

test("a result from before sinceMs does not count", async () => {
  const harness = probeHarness();
  harness.ask(pods("a"));
  await harness.respond("a");
  await harness.clock.advance(1);
  const sinceMs = harness.clock.now();
  expect(harness.ask(pods("a"), { sinceMs })).toEqual(PENDING);
  await harness.respond("a", metricsOf(1));
  expect(harness.ask(pods("a"), { sinceMs })).toMatchObject({ type: "busy" });
});

test("a probe that was running at sinceMs is repeated before the engine is enqueued", async () => {
  const harness = probeHarness();
  harness.ask(pods("a"));
  await harness.clock.advance(1);
  const sinceMs = harness.clock.now();
  expect(harness.ask(pods("a"), { sinceMs })).toEqual(PENDING);
  await harness.respond("a");
  expect(harness.enqueued).toEqual([]);
  expect(harness.ask(pods("a"), { sinceMs })).toEqual(PENDING);
  await harness.respond("a", metricsOf(1));
  expect(harness.enqueued).toEqual(["ns/e"]);
  expect(harness.ask(pods("a"), { sinceMs })).toMatchObject({ type: "busy" });
});

test("for a moment in the future nothing is probed, and the engine is enqueued when it has come", async () => {
  const harness = probeHarness();
  const sinceMs = harness.clock.now() + 35_000;
  for (let pass = 0; pass < 3; pass++) expect(harness.ask(pods("a"), { sinceMs })).toEqual(PENDING);
  expect(harness.clock.pending).toBe(1);
  await harness.clock.advance(34_999);
  expect(harness.enqueued).toEqual([]);
  await harness.clock.advance(1);
  expect(harness.enqueued).toEqual(["ns/e"]);
  expect(harness.started).toEqual([]);
  expect(harness.ask(pods("a"), { sinceMs })).toEqual(PENDING);
  await harness.respond("a");
  expect(harness.ask(pods("a"), { sinceMs })).toEqual(IDLE);
});

test("a wall clock that is set back makes no probe repeat without end", async () => {
  let offsetMs = 0;
  const clock = new (class extends ManualClock {
    override now(): number {
      return super.now() + offsetMs;
    }
  })();
  const harness = probeHarness({ clock, concurrency: 1 });
  const sinceMs = clock.now();
  harness.ask(pods("first"), {}, "other");
  harness.ask(pods("a"), { sinceMs });
  offsetMs = -60_000;
  await harness.respond("first");
  await harness.respond("a");
  expect(harness.started).toEqual(["first", "a"]);
  expect(harness.enqueued).toEqual(["ns/other", "ns/e"]);
  expect(harness.ask(pods("a"), { sinceMs })).toEqual(PENDING);
  await clock.advance(60_000);
  expect(harness.enqueued).toEqual(["ns/other", "ns/e", "ns/e"]);
});

test("a result of another scrape mode does not count, and one that is running is repeated in the new mode", async () => {
  const harness = probeHarness();
  harness.ask(pods("a"));
  harness.ask(pods("a"), { mode: "PodIP" });
  await harness.respond("a");
  expect([...harness.running].map(({ mode }) => mode)).toEqual(["PodIP"]);
  await harness.respond("a");
  expect(harness.enqueued).toEqual(["ns/e"]);
  expect(harness.ask(pods("a"), { mode: "PodIP" })).toEqual(IDLE);
  expect(harness.ask(pods("a"))).toEqual(PENDING);
});

test("64 probes run at once; the others follow in the order of their requests", async () => {
  const harness = probeHarness();
  const names = numbered("p", 100);
  for (const name of names) harness.ask(pods(name), {}, name);
  expect(harness.started).toEqual(names.slice(0, 64));
  await harness.respond("p7");
  await harness.respond("p3");
  expect(harness.started).toEqual(names.slice(0, 66));
});

test("pods that did not respond last time use at most half of the places; pods that do never wait behind them", async () => {
  const harness = probeHarness({ concurrency: 8 });
  const hung = numbered("hung", 20);
  for (const name of hung) harness.ask(pods(name), {}, name);
  for (const name of hung) await harness.respond(name, silence);
  for (const name of hung) expect(harness.ask(pods(name), { freshMs: 0 }, name)).toMatchObject({ type: "failing" });
  harness.started.length = 0;
  for (const name of hung) expect(harness.ask(pods(name), { freshMs: 0 }, name)).toEqual(PENDING);
  expect(harness.started).toEqual(hung.slice(0, 4));
  const good = numbered("good", 10);
  for (const name of good) harness.ask(pods(name), {}, name);
  expect(harness.started.slice(4)).toEqual(good.slice(0, 4));
  for (const name of good) await harness.respond(name);
  expect(harness.started).toEqual([...hung.slice(0, 4), ...good]);
  expect(harness.enqueued.slice(20)).toEqual(good.map((name) => `ns/${name}`));
  // Within their lane the unresponsive keep their order, and one that responds again leaves it.
  await harness.respond("hung2");
  expect(harness.started.at(-1)).toBe("hung4");
  harness.ask(pods("hung2"), { freshMs: 0 }, "hung2");
  harness.ask(pods("hung2"), { freshMs: 0 }, "hung2");
  expect(harness.started.at(-1)).toBe("hung2");
});

test.each([
  [
    "a pod that the API server cannot reach",
    new KubeApiError("GET /x", 503, { message: "dial tcp: i/o timeout" }),
    "unresponsive",
  ],
  ["a rejection by the API server", new KubeApiError("GET /x", 403, { message: "no" }), "responsive"],
  ["a response without gauges", { status: 200, body: "" }, "responsive"],
  ["another status", { status: 500, body: "" }, "responsive"],
])("lane after %s: $2", async (_, answer, lane) => {
  const harness = probeHarness({ concurrency: 2 });
  harness.ask(pods("a", "b"));
  await harness.respond("a", answer);
  await harness.respond("b", answer);
  harness.ask(pods("a", "b"), { freshMs: 0 });
  harness.ask(pods("a", "b"), { freshMs: 0 });
  expect(harness.running.size).toBe(lane === "responsive" ? 2 : 1);
});

test("a pod that is not ready counts as unresponsive until it was probed", () => {
  const harness = probeHarness({ concurrency: 4 });
  const lost = numbered("lost", 10).map((name) => podOf(name, { ready: false }));
  harness.ask(lost);
  harness.ask(pods("good"), {}, "other");
  expect(harness.started).toEqual(["lost0", "lost1", "good"]);
});

test("a single place serves both lanes", async () => {
  const harness = probeHarness({ concurrency: 1 });
  harness.ask([podOf("lost", { ready: false }), podOf("good")]);
  await harness.respond("lost", silence);
  await harness.respond("good");
  expect(harness.enqueued).toEqual(["ns/e"]);
});

test("the end of the prober aborts its probes: no result, no enqueue, no timer, nothing new", async () => {
  const harness = probeHarness({ concurrency: 1 });
  harness.ask(pods("a", "b"));
  harness.ask(pods("c"), { sinceMs: harness.clock.now() + 1_000 }, "later");
  const [running] = harness.running;
  harness.end.abort(new Error("lease lost"));
  expect(running?.signal.aborted).toBe(true);
  running?.respond(metricsOf(0));
  await harness.clock.advance(120_000);
  expect(harness.ask(pods("a"))).toEqual(PENDING);
  expect(harness.ask(pods("d"))).toEqual(PENDING);
  expect(harness.started).toEqual(["a"]);
  expect(harness.enqueued).toEqual([]);
  expect(harness.clock.pending).toBe(0);
});

test("a scrape that ignores its limits and its signal loses its place", async () => {
  const harness = probeHarness({ concurrency: 1 });
  harness.ask(pods("a"));
  harness.ask(pods("b"), {}, "other");
  await harness.clock.advance(15_000);
  expect(harness.started).toEqual(["a", "b"]);
  expect(harness.ask(pods("a"))).toEqual({ type: "failing", pod: "a", cause: "no complete response within 15 s" });
});

test("a scrape that throws at once is a failure like any other", async () => {
  const clock = new ManualClock();
  const prober = createQueryProber({
    scrape: () => {
      throw new Error("no way");
    },
    clock,
    signal: new AbortController().signal,
    logger: silentLogger,
  });
  const request = { mode: "PodIP", sinceMs: 0, freshMs: 0 } as const;
  expect(prober.queries({ namespace: "ns", name: "e" }, pods("a"), request)).toEqual(PENDING);
  await clock.advance(0);
  expect(prober.queries({ namespace: "ns", name: "e" }, pods("a"), request)).toMatchObject({ cause: "no way" });
});

test("a listener that fails keeps no other from its results; one that unsubscribed gets none", async () => {
  const harness = probeHarness();
  const seen: string[] = [];
  harness.prober.onResult(() => {
    throw new Error("defect");
  });
  harness.prober.onResult(({ name }) => seen.push(name));
  const stop = harness.prober.onResult(({ name }) => seen.push(`stopped ${name}`));
  stop();
  harness.ask(pods("a"));
  await harness.respond("a");
  expect(seen).toEqual(["e"]);
});

test("what is known about a pod is forgotten when no pass has requested it for ten minutes", async () => {
  const harness = probeHarness({ concurrency: 2 });
  harness.ask(pods("a", "b"));
  await harness.respond("a", silence);
  await harness.respond("b", silence);
  await harness.clock.advance(9 * 60_000);
  expect(harness.ask(pods("a", "b"))).toMatchObject({ type: "failing" });
  await harness.clock.advance(9 * 60_000);
  harness.ask(pods("a", "b"));
  // Still known as unresponsive: they share one place.
  expect(harness.running.size).toBe(1);
  await harness.respond("a", silence);
  await harness.respond("b", silence);
  await harness.clock.advance(11 * 60_000);
  harness.ask(pods("other"), {}, "other");
  await harness.respond("other");
  harness.ask(pods("a", "b"));
  expect(harness.running.size).toBe(2);
});

test("a pod that waits for its turn is not forgotten, however long that takes", async () => {
  const harness = probeHarness({ concurrency: 1 });
  const others = numbered("other", 50);
  harness.ask(pods(...others), {}, "others");
  harness.ask(pods("last"));
  await harness.clock.advance(45 * 15_000);
  harness.ask(pods("more"), {}, "more");
  harness.ask(pods("last"));
  await harness.clock.advance(10 * 15_000);
  expect(harness.started).toEqual([...others, "last", "more"]);
});

test("an end between two engines that wait for the same pod: the second is not enqueued", async () => {
  const harness = probeHarness();
  harness.ask(pods("a"), {}, "one");
  harness.ask(pods("a"), {}, "two");
  harness.prober.onResult(() => harness.end.abort());
  await harness.respond("a");
  expect(harness.enqueued).toEqual(["ns/one"]);
});
