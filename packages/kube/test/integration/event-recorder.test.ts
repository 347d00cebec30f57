// Events on a real API server, which validates every field: what it accepts, kubectl can show.
import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { KubeClient } from "../../src/client/client.ts";
import { createKubeClient } from "../../src/client/kube-client.ts";
import { loadKubeconfig } from "../../src/config/kubeconfig.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { Logger } from "../../src/core/logger.ts";
import { type EventNote, eventResource, type KubeEvent, referenceTo } from "../../src/events/object.ts";
import { createEventRecorder, type EventRecorder } from "../../src/events/recorder.ts";
import { eventWriter } from "../../src/events/writer.ts";
import { ConfigMap, Namespace, type V1ConfigMap } from "../../src/kinds/index.ts";
import { createNamespace, eventually } from "../support/cluster.ts";

/** Ends what hangs. */
const FLUSH_MS = 60_000;

let client: KubeClient;
let namespace: string;
let recorder: EventRecorder;
let running: Promise<void>;
const stop = new AbortController();
const errors: unknown[] = [];
const infos: string[] = [];

beforeAll(async () => {
  client = createKubeClient({
    config: await loadKubeconfig({ path: inject("adminKubeconfig"), env: {}, homeDir: homedir() }),
  });
  namespace = await createNamespace("events");
  const logger: Logger = {
    debug: () => undefined,
    info: (message) => infos.push(message),
    error: (_message, error) => errors.push(error),
    with: () => logger,
  };
  recorder = createEventRecorder({
    writer: eventWriter(client),
    clock: systemClock,
    logger,
    reportingController: "example.com/controller",
    reportingInstance: "pod-1",
  });
  running = recorder.run(stop.signal);
});

afterAll(async () => {
  stop.abort();
  await running;
  client.close();
});

async function subject(name: string): Promise<V1ConfigMap> {
  return client.create(ConfigMap, { metadata: { namespace, name } });
}

const note = (object: V1ConfigMap, change: Partial<EventNote> = {}): EventNote => ({
  regarding: referenceTo({ apiVersion: "v1", kind: "ConfigMap", ...object }),
  type: "Warning",
  reason: "SomethingHappened",
  action: "Reconcile",
  note: "something happened",
  ...change,
});

async function eventsOf(object: V1ConfigMap): Promise<readonly KubeEvent[]> {
  const uid = object.metadata?.uid;
  const { items } = await client.list(eventResource, { namespace });
  return items.filter(({ regarding }) => regarding?.uid === uid);
}

test("repeats become a series of one Event", async () => {
  const object = await subject("repeats");
  for (let round = 0; round < 3; round++) {
    recorder.record(note(object));
    await recorder.flush(FLUSH_MS);
  }
  const events = await eventsOf(object);
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    type: "Warning",
    reason: "SomethingHappened",
    action: "Reconcile",
    note: "something happened",
    reportingController: "example.com/controller",
    reportingInstance: "pod-1",
    regarding: { kind: "ConfigMap", name: "repeats", namespace },
    series: { count: 3 },
  });
  const times = [events[0]?.eventTime ?? "", events[0]?.series?.lastObservedTime ?? ""];
  expect(times.every((time) => /\.\d{6}Z$/.test(time))).toBe(true);
  expect(times[0] && times[1] && times[0] <= times[1]).toBe(true);
  expect(errors).toEqual([]);
});

test("a series continues in a new Event if the old one was deleted", async () => {
  const object = await subject("expires");
  for (let round = 0; round < 2; round++) {
    recorder.record(note(object));
    await recorder.flush(FLUSH_MS);
  }
  const [first] = await eventsOf(object);
  await client.delete(eventResource, { namespace, name: first?.metadata?.name ?? "" });
  recorder.record(note(object));
  await recorder.flush(FLUSH_MS);
  const events = await eventsOf(object);
  expect(events.map(({ series }) => series?.count)).toEqual([3]);
  expect(events[0]?.metadata?.name).not.toBe(first?.metadata?.name);
  expect(errors).toEqual([]);
});

test("kubectl sorted by event time lists events in the order in which they happened", async () => {
  const object = await subject("ordered");
  const written = Array.from({ length: 8 }, (_, index) => `step ${index}`);
  for (const text of written) {
    recorder.record(note(object, { note: text }));
    // The clock has a resolution of milliseconds; two events within one have no order.
    const nowMs = Date.now();
    await eventually(() => Date.now() > nowMs);
  }
  await recorder.flush(FLUSH_MS);
  const { stdout } = await promisify(execFile)(inject("binaries")["kubectl"] ?? "", [
    ...["--kubeconfig", inject("adminKubeconfig"), "-n", namespace, "get", "events", "--sort-by=.eventTime"],
    ...["--field-selector", "involvedObject.name=ordered", "-o", "custom-columns=MESSAGE:.message", "--no-headers"],
  ]);
  expect(stdout.trim().split("\n")).toEqual(written);
});

test("notes and tokens that are too long are truncated so that the server accepts them", async () => {
  const object = await subject("long");
  recorder.record(note(object, { note: "ü".repeat(2_000), action: "a".repeat(300), reason: "R".repeat(300) }));
  await recorder.flush(FLUSH_MS);
  const [event] = await eventsOf(object);
  expect(Buffer.byteLength(event?.note ?? "")).toBe(1_023);
  expect(event?.action).toHaveLength(128);
  expect(errors).toEqual([]);
});

test("events of cluster-scoped objects are in the default namespace", async () => {
  const regarding = { apiVersion: "v1", kind: "Namespace", name: namespace };
  recorder.record({ ...note({}), regarding });
  await recorder.flush(FLUSH_MS);
  const events = await eventually(async () => {
    const { items } = await client.list(eventResource, { namespace: "default" });
    const ours = items.filter((event) => event.regarding?.name === namespace);
    return ours.length > 0 && ours;
  });
  expect(events[0]).toMatchObject({ metadata: { namespace: "default" }, regarding });
  expect(errors).toEqual([]);
});

test("a terminating namespace accepts no events, which is logged without an error", async () => {
  // No controller on this control plane completes the deletion.
  const leaving = await createNamespace("events-leaving");
  const object = await client.create(ConfigMap, { metadata: { namespace: leaving, name: "subject" } });
  await client.delete(Namespace, { name: leaving });
  // The API server accepts events until its admission has observed the deletion.
  await eventually(async () => {
    recorder.record(note(object));
    await recorder.flush(FLUSH_MS);
    return infos.includes("event not written: its namespace is terminating");
  });
  expect(errors).toEqual([]);
});

test("an event that the server rejects is logged and dropped", async () => {
  const object = await subject("refused");
  recorder.record(note(object, { regarding: { ...note(object).regarding, namespace: "no-such-namespace" } }));
  await recorder.flush(FLUSH_MS);
  expect(errors.map(String)).toEqual([expect.stringContaining("404")]);
  errors.length = 0;
  recorder.record(note(object));
  await recorder.flush(FLUSH_MS);
  expect(await eventsOf(object)).toHaveLength(1);
});
