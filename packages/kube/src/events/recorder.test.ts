import { expect, test } from "vitest";
import { KubeApiError, KubeConnectionError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { ObjectKey } from "../core/object.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { cutBytes, type EventNote, type EventSeriesCount, type KubeEvent, renderEvent } from "./object.ts";
import { createEventRecorder, type EventRecorderOptions } from "./recorder.ts";

function setUp(options: Partial<EventRecorderOptions> = {}) {
  const clock = new ManualClock();
  const created: KubeEvent[] = [];
  const patched: { readonly key: ObjectKey; readonly series: EventSeriesCount }[] = [];
  const failures: (Error | "hang")[] = [];
  const errors: string[] = [];
  const logger: Logger = {
    debug: () => undefined,
    info: (message) => errors.push(`info: ${message}`),
    error: (message) => errors.push(message),
    with: () => logger,
  };
  const mayFail = async (signal: AbortSignal | undefined): Promise<void> => {
    const failure = failures.shift();
    if (failure === "hang")
      await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new KubeConnectionError("cut"))));
    else if (failure !== undefined) throw failure;
  };
  const recorder = createEventRecorder({
    writer: {
      async create(event, { signal }) {
        await mayFail(signal);
        created.push(event);
      },
      async setSeries(key, series, { signal }) {
        await mayFail(signal);
        patched.push({ key, series });
      },
    },
    clock,
    logger,
    reportingController: "example.com/controller",
    reportingInstance: "pod-1",
    ...options,
  });
  const stop = new AbortController();
  const running = recorder.run(stop.signal);
  return { clock, created, patched, failures, errors, recorder, stop, running };
}

const event = (change: Partial<EventNote> = {}): EventNote => ({
  regarding: { apiVersion: "v1", kind: "Thing", namespace: "ns", name: "thing-1", uid: "u1" },
  type: "Normal",
  reason: "Created",
  action: "Reconcile",
  note: "made it",
  ...change,
});

test("an event is written in the namespace of its object, with all required fields", async () => {
  const { clock, created, recorder } = setUp();
  recorder.record(event());
  await clock.advance(0);
  expect(created).toEqual([
    {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: expect.stringMatching(/^thing-1\.[0-9a-f]{16}$/), namespace: "ns" },
      eventTime: "2026-01-01T00:00:00.000000Z",
      type: "Normal",
      reason: "Created",
      action: "Reconcile",
      note: "made it",
      regarding: event().regarding,
      reportingController: "example.com/controller",
      reportingInstance: "pod-1",
    },
  ]);
});

test("repeats within six minutes of each other become a series of the same Event", async () => {
  const { clock, created, patched, recorder } = setUp();
  recorder.record(event());
  await clock.advance(300_000);
  recorder.record(event());
  await clock.advance(300_000);
  recorder.record(event());
  await clock.advance(0);
  expect(created).toHaveLength(1);
  expect(patched.map(({ series }) => series)).toEqual([
    { count: 2, lastObservedTime: "2026-01-01T00:05:00.000000Z" },
    { count: 3, lastObservedTime: "2026-01-01T00:10:00.000000Z" },
  ]);
  expect(patched[0]?.key).toEqual({ namespace: "ns", name: created[0]?.metadata?.name });
  await clock.advance(360_001);
  recorder.record(event());
  await clock.advance(0);
  expect(created).toHaveLength(2);
});

test.each([
  { name: "note", change: { note: "other" } },
  { name: "reason", change: { reason: "Other" } },
  { name: "action", change: { action: "Other" } },
  { name: "type", change: { type: "Warning" } },
  { name: "object", change: { regarding: { ...event().regarding, uid: "u2" } } },
] as const)("another $name is another event", async ({ change }) => {
  const { clock, created, recorder } = setUp();
  recorder.record(event());
  recorder.record(event(change));
  await clock.advance(0);
  expect(created).toHaveLength(2);
});

test("repeats of a queued event are included in its write", async () => {
  const { clock, created, patched, recorder, failures } = setUp();
  failures.push(new KubeConnectionError("refused"));
  for (let index = 0; index < 10; index++) recorder.record(event());
  await clock.advance(0);
  recorder.record(event());
  await clock.advance(500);
  expect(created.map(({ series }) => series?.count)).toEqual([11]);
  expect(patched.length).toBeLessThanOrEqual(1);
});

test("a series whose Event has expired continues in a new one with the count", async () => {
  const { clock, created, patched, recorder, failures } = setUp();
  recorder.record(event());
  await clock.advance(60_000);
  failures.push(new KubeApiError("PATCH event", 404, { reason: "NotFound" }));
  recorder.record(event());
  await clock.advance(60_000);
  recorder.record(event());
  await clock.advance(0);
  expect(created.map(({ series }) => series?.count)).toEqual([undefined, 2]);
  expect(patched.map(({ key }) => key.name)).toEqual([created[1]?.metadata?.name]);
});

test("repeats leave budget for new events", async () => {
  const { clock, created, recorder } = setUp();
  for (let index = 0; index < 60; index++) {
    recorder.record(event({ reason: "Failed" }));
    await clock.advance(1_000);
  }
  for (let index = 0; index < 10; index++) recorder.record(event({ note: `news ${index}` }));
  await clock.advance(0);
  expect(created.map(({ note }) => note)).toEqual([
    "made it",
    ...Array.from({ length: 10 }, (_, index) => `news ${index}`),
  ]);
});

test("a note is filtered by `plain` before it is written and counted", async () => {
  const { clock, created, patched, recorder } = setUp({ plain: (note) => note.replaceAll(/[^a-z ]/g, "") });
  recorder.record(event({ note: "made it\u001b" }));
  await clock.advance(0);
  recorder.record(event({ note: "made it\u0007" }));
  await clock.advance(0);
  expect(created.map(({ note }) => note)).toEqual(["made it"]);
  expect(patched).toHaveLength(1);
});

test("one object gets 25 events in a burst and then one per five minutes; others are not affected", async () => {
  const { clock, created, recorder } = setUp();
  for (let index = 0; index < 40; index++) recorder.record(event({ note: `note ${index}` }));
  await clock.advance(0);
  expect(created).toHaveLength(25);
  recorder.record(event({ regarding: { ...event().regarding, uid: "u2" } }));
  await clock.advance(300_000);
  expect(created).toHaveLength(26);
  recorder.record(event({ note: "later" }));
  recorder.record(event({ note: "too soon" }));
  await clock.advance(0);
  expect(created.map(({ note }) => note).at(-1)).toBe("later");
});

test("a failing server is retried, a rejection is not, and neither reaches the caller", async () => {
  const { clock, created, recorder, failures, errors } = setUp();
  failures.push(new KubeConnectionError("refused"), new KubeApiError("POST", 503, {}));
  recorder.record(event());
  await clock.advance(1_500);
  expect(created).toHaveLength(1);
  failures.push(new KubeApiError("POST", 403, { reason: "Forbidden" }));
  recorder.record(event({ note: "refused" }));
  await clock.advance(60_000);
  expect(created).toHaveLength(1);
  expect(errors).toEqual(["event not written"]);
});

test("a terminating namespace accepts no events, which is not an error", async () => {
  const { clock, created, recorder, failures, errors } = setUp();
  const details = { causes: [{ reason: "NamespaceTerminating" }] };
  failures.push(new KubeApiError("POST", 403, { reason: "Forbidden", details }));
  recorder.record(event());
  await clock.advance(60_000);
  expect(created).toEqual([]);
  expect(errors).toEqual(["info: event not written: its namespace is terminating"]);
});

test("events of four objects are in flight at once, of one object never two", async () => {
  const { clock, created, failures, recorder } = setUp();
  failures.push("hang", "hang", "hang");
  const of = (uid: string, reason: string) =>
    event({ reason, regarding: { apiVersion: "v1", kind: "Thing", namespace: "ns", name: uid, uid } });
  for (const uid of ["a", "b", "c"]) recorder.record(of(uid, "First"));
  recorder.record(of("a", "Second"));
  for (const uid of ["d", "e"]) recorder.record(of(uid, "First"));
  await clock.advance(0);
  // Three hang; the fourth writer writes all others except the second event of an object that hangs.
  expect(created.map(({ regarding, reason }) => `${regarding?.name} ${reason}`)).toEqual(["d First", "e First"]);
});

test("the queue is bounded, and dropped events are reported once", async () => {
  const { clock, created, recorder, errors } = setUp({ queueLimit: 3, limits: { burst: 100 } });
  for (let index = 0; index < 10; index++) recorder.record(event({ note: `note ${index}` }));
  await clock.advance(0);
  expect(created.map(({ note }) => note)).toEqual(["note 0", "note 1", "note 2"]);
  expect(errors).toEqual(["info: event queue was full, events dropped"]);
});

test("a stop writes queued events, for at most a second", async () => {
  const { clock, created, recorder, failures, stop, running } = setUp();
  recorder.record(event({ note: "one" }));
  recorder.record(event({ note: "two" }));
  stop.abort();
  await running;
  expect(created.map(({ note }) => note)).toEqual(["one", "two"]);

  const slow = setUp();
  slow.failures.push("hang");
  slow.recorder.record(event());
  await slow.clock.advance(0);
  slow.stop.abort();
  let ended = false;
  void slow.running.then(() => {
    ended = true;
  });
  await slow.clock.advance(999);
  expect(ended).toBe(false);
  await slow.clock.advance(1);
  expect(ended).toBe(true);
  expect(failures).toEqual([]);
  expect(clock.pending).toBe(0);
});

test("flush waits for recorded events, up to its timeout", async () => {
  const { clock, created, recorder, failures } = setUp();
  recorder.record(event());
  await recorder.flush(1_000);
  expect(created).toHaveLength(1);
  failures.push("hang");
  recorder.record(event({ note: "stuck" }));
  const flushed = recorder.flush(200);
  await clock.advance(200);
  await flushed;
  expect(created).toHaveLength(1);
});

test("an event without an action is logged as an error, not thrown", async () => {
  const { clock, created, recorder, errors } = setUp();
  recorder.record(event({ action: "" }));
  await clock.advance(0);
  expect(created).toEqual([]);
  expect(errors).toHaveLength(1);
});

test("tokens and notes are truncated to the API's limits, between characters", async () => {
  const { clock, created, recorder } = setUp();
  recorder.record(event({ action: "a".repeat(200), note: "ü".repeat(1000) }));
  await clock.advance(0);
  expect(created[0]?.action).toHaveLength(128);
  expect(Buffer.byteLength(created[0]?.note ?? "")).toBeLessThanOrEqual(1024);
  expect(created[0]?.note).toMatch(/^ü+\.\.\.$/);
  expect(cutBytes("short", 1024)).toBe("short");
});

test("names stay valid: cluster-scoped objects, long names, names that are invalid for an Event", () => {
  const identity = { reportingController: "c", reportingInstance: "i", suffix: "0123456789abcdef" };
  const times = { firstMs: 0, lastMs: 0, count: 1 };
  const named = (name: string): KubeEvent =>
    renderEvent(event({ regarding: { apiVersion: "v1", kind: "ClusterRole", name } }), identity, times);
  expect(named("node-1").metadata).toEqual({ name: "node-1.0123456789abcdef", namespace: "default" });
  expect(named("system:admin").metadata?.name).toBe("clusterrole.0123456789abcdef");
  expect(named(`${"a".repeat(235)}.${"b".repeat(10)}`).metadata?.name).toBe(`${"a".repeat(235)}.0123456789abcdef`);
});

test("memory is bounded: the least recently used series is evicted first", async () => {
  const { clock, created, patched, recorder } = setUp({ limits: { remembered: 2, burst: 100 } });
  for (const note of ["a", "b", "a", "c"]) {
    recorder.record(event({ note }));
    await clock.advance(1);
  }
  recorder.record(event({ note: "a" }));
  recorder.record(event({ note: "b" }));
  await clock.advance(0);
  expect(created.map(({ note }) => note)).toEqual(["a", "b", "c", "b"]);
  expect(patched).toHaveLength(2);
});
