// Admission over caches in memory: the response in every situation (docs/design/auto-stop.md#holding-queries).
import { KubeApiError } from "@firebolt-operator/kube";
import { beforeEach, expect, test } from "vitest";
import { AdmissionFixture } from "../../../test/wake/support/admission-fixture.ts";

let a: AdmissionFixture;

beforeEach(() => {
  a = new AdmissionFixture();
});

test.each(["", "-e", "e-", "E", "a.b", "x".repeat(64), "e%20"])("the name %j is rejected", async (name) => {
  a.sync();
  expect(await a.admission.check(name)).toEqual({ status: 400, decision: "rejected" });
  expect(await a.hold(name)).toEqual({ status: 400, decision: "rejected" });
});

test("before the watches have synced every query passes; engines known to be ready are reported as ready", async () => {
  a.putEngine("e", 0);
  expect(await a.hold()).toEqual({ status: 200, decision: "unsynced" });
  a.watchHealth.slices.observer.relisted?.("start" as never);
  a.putEndpoint("up", true);
  expect(await a.admission.check("up")).toEqual({ status: 200, decision: "ready" });
  expect(await a.admission.check("e")).toEqual({ status: 200, decision: "unsynced" });
  expect(await a.admission.check("nobody")).toEqual({ status: 200, decision: "unsynced" });
});

test("a name that is no engine: 404 at once, and nothing is recorded", async () => {
  a.sync();
  for (let index = 0; index < 10_000; index++)
    expect(await a.hold(`x${index}`)).toEqual({ status: 404, decision: "unknown" });
  expect(a.demand.rows()).toEqual([]);
  expect(a.requested).toEqual([]);
  expect([a.queue.size, a.clock.pending]).toEqual([0, 0]);
});

test("ready: at once, and nothing is recorded", async () => {
  a.putEngine("e", 1);
  a.putEndpoint("e", true);
  a.sync();
  expect(await a.admission.check("e")).toEqual({ status: 200, decision: "ready" });
  expect(await a.hold()).toEqual({ status: 200, decision: "ready" });
  expect(a.demand.rows()).toEqual([]);
});

test("stopped: held, wake requested, released once the gateway reaches it", async () => {
  a.putEngine("e", 0);
  a.sync();
  expect(await a.admission.check("e")).toEqual({ status: 202, decision: "wait" });
  const answer = a.hold();
  await a.clock.advance(5_000);
  expect(a.requested).toEqual(["e"]);
  expect(a.demand.rows()).toMatchObject([{ engine: "e", holds: 1 }]);
  a.putEngine("e", 1, "creating");
  a.reached = "not yet";
  a.putEndpoint("e", true);
  await a.clock.advance(3_000);
  expect(a.queue.size).toBe(1);
  expect(await a.admission.check("e")).toEqual({ status: 202, decision: "wait" });
  a.reached = "yes";
  await a.clock.advance(200);
  expect(await answer).toEqual({ status: 200, decision: "released" });
  expect(await a.admission.check("e")).toEqual({ status: 200, decision: "ready" });
  await a.clock.advance(5_000);
  expect(a.clock.pending).toBe(0);
});

test("a gateway that cannot be probed, or never reaches it, does not hold back a ready engine's requests", async () => {
  a.putEngine("e", 0);
  a.sync();
  a.reached = "unavailable";
  const first = a.hold();
  a.putEngine("e", 1);
  a.putEndpoint("e", true);
  await a.clock.advance(0);
  expect((await first).decision).toBe("released");
  a.putEndpoint("e", false);
  a.reached = "not yet";
  const second = a.hold();
  a.putEndpoint("e", true);
  await a.clock.advance(14_000);
  expect(a.queue.size).toBe(1);
  await a.clock.advance(2_000);
  expect((await second).decision).toBe("released");
});

test("not ready in time: 503 after the hold; queue full: 503 at once, with the demand recorded", async () => {
  a.putEngine("e", 0);
  a.sync();
  a.capacity = 1;
  const first = a.hold();
  expect(await a.hold()).toEqual({ status: 503, decision: "shed" });
  expect(a.demand.rows()).toMatchObject([{ engine: "e", holds: 1, shed: 1 }]);
  await a.clock.advance(120_000);
  expect(await first).toEqual({ status: 503, decision: "timeout" });
});

test("queue full, but the engine is up: the query passes, and the probe confirms it for the next one", async () => {
  a.putEngine("e", 0);
  a.sync();
  a.capacity = 0;
  expect((await a.hold()).decision).toBe("shed");
  a.putEngine("e", 1);
  a.putEndpoint("e", true);
  expect(await a.hold()).toEqual({ status: 200, decision: "unsynced" });
  await a.clock.advance(0);
  expect(a.attempts).toBe(1);
  expect(await a.admission.check("e")).toEqual({ status: 200, decision: "ready" });
});

test.each([401, 403])(
  "a wake request that is rejected with %d is retried with every tick of the hold",
  async (status) => {
    a.sync();
    a.putEngine("e", 0);
    a.refusal = new KubeApiError("PATCH /e", status, {});
    const held = a.hold();
    await a.clock.advance(30_000);
    expect(a.requested).toEqual([]);
    // The token has been replaced, or the right is back.
    a.refusal = undefined;
    await a.clock.advance(1_000);
    expect(a.requested).toEqual(["e"]);
    a.putEngine("e", 1);
    a.putEndpoint("e", true);
    expect(await held).toEqual({ status: 200, decision: "released" });
  },
);

test("rejected until the hold times out, or until the gateway terminates: the response has the reason", async () => {
  a.sync();
  a.putEngine("e", 0);
  a.refusal = new KubeApiError("PATCH /e", 401, {});
  const held = a.hold();
  await a.clock.advance(120_000);
  expect(await held).toEqual({ status: 503, decision: "denied" });
  const cut = a.hold();
  await a.clock.advance(1_000);
  a.queue.releaseAll("shutdown");
  expect(await cut).toEqual({ status: 503, decision: "denied" });
});

test("a wake request that fails for another reason, or that another gateway has made, is not reported as denied", async () => {
  a.sync();
  a.putEngine("e", 0);
  a.refusal = new Error("cut off");
  const held = a.hold();
  await a.clock.advance(120_000);
  expect(await held).toEqual({ status: 503, decision: "timeout" });
  a.refusal = new KubeApiError("PATCH /e", 403, {});
  const second = a.hold();
  await a.clock.advance(1_000);
  const annotations = { "firebolt.io/wake-requested": new Date(a.clock.now()).toISOString() };
  a.engines.put({
    metadata: { name: "e", namespace: "ns", annotations },
    spec: { replicas: 0 },
    status: { phase: "stopped", activeGeneration: 0 },
  });
  await a.clock.advance(2_000);
  a.queue.releaseAll("shutdown");
  expect(await second).toEqual({ status: 503, decision: "timeout" });
});

test.each([
  { name: "its endpoints (the StatefulSet was deleted or scaled to zero)", lose: () => a.putEndpoint("e", false) },
  {
    name: "its Service",
    lose: () => a.slices.remove({ namespace: "ns", name: "e-slice" }),
  },
])("an engine that should run and has lost $name is held until the operator has restored it", async ({ lose }) => {
  a.putEngine("e", 1);
  a.putEndpoint("e", true);
  a.sync();
  expect(await a.admission.check("e")).toEqual({ status: 200, decision: "ready" });
  lose();
  expect(await a.admission.check("e")).toEqual({ status: 202, decision: "wait" });
  const held = a.hold();
  await a.clock.advance(100_000);
  a.putEndpoint("e", true);
  expect(await held).toEqual({ status: 200, decision: "released" });
  expect(a.requested).toEqual([]);
});

test("a client that disconnects affects no other", async () => {
  a.putEngine("e", 0);
  a.sync();
  const disconnected = new AbortController();
  const gone = a.hold("e", disconnected.signal);
  const staying = a.hold();
  disconnected.abort();
  await gone;
  expect(a.queue.countOf("e")).toBe(1);
  a.putEngine("e", 1);
  a.putEndpoint("e", true);
  await a.clock.advance(0);
  expect((await staying).decision).toBe("released");
});

test("an engine that is deleted: 404 for the requests that wait", async () => {
  a.putEngine("e", 0);
  a.sync();
  const answer = a.hold();
  a.engines.remove({ namespace: "ns", name: "e" });
  expect(await answer).toEqual({ status: 404, decision: "unknown" });
});

test("an engine that no query can start is held for five seconds, unless it is started meanwhile", async () => {
  const putOff = (replicas: number): void =>
    a.engines.put({
      metadata: { name: "off", namespace: "ns" },
      spec: { replicas },
      status: { phase: "stopped", activeGeneration: 0, autoStopReason: "Disabled" },
    });
  putOff(0);
  a.putEngine("e", 0);
  a.sync();
  const [first, other] = [a.hold("off"), a.hold()];
  await a.clock.advance(4_999);
  expect(a.queue.countOf("off")).toBe(1);
  await a.clock.advance(1);
  expect(await first).toEqual({ status: 503, decision: "stopped" });
  expect(a.queue.countOf("e")).toBe(1);
  const second = a.hold("off");
  await a.clock.advance(1_000);
  putOff(1);
  await a.clock.advance(30_000);
  expect(a.queue.countOf("off")).toBe(1);
  a.putEndpoint("off", true);
  await a.clock.advance(0);
  expect(await second).toEqual({ status: 200, decision: "released" });
  a.queue.releaseAll("shutdown");
  await other;
});

test("with a broken watch, requests are released for an engine that the gateway reaches", async () => {
  a.putEngine("e", 0);
  a.sync();
  const answer = a.hold();
  a.reached = "not yet";
  a.watchHealth.slices.observer.failed?.(new Error("cut off"));
  await a.clock.advance(10_000);
  expect(a.queue.size).toBe(1);
  a.reached = "yes";
  await a.clock.advance(2_000);
  expect(await answer).toEqual({ status: 200, decision: "released" });
});

test("released to an engine that is about to stop: the response must not be cached", async () => {
  a.putEngine("e", 0);
  a.sync();
  const answer = a.hold();
  a.putEndpoint("e", true);
  await a.clock.advance(0);
  expect(await answer).toEqual({ status: 200, decision: "leaving" });
});

test("the epoch increases whenever an engine that was ready may no longer be, and only then", async () => {
  a.putEngine("e", 1);
  a.putEndpoint("e", true);
  a.sync();
  const before = a.view.epoch;
  let grown = false;
  void a.view.epochAbove(before, new AbortController().signal).then(() => {
    grown = true;
  });
  a.putEngine("other", 0);
  a.putEndpoint("other", true);
  await a.clock.advance(0);
  expect([a.view.epoch, grown]).toEqual([before, false]);
  a.putEngine("e", 0, "stable");
  await a.clock.advance(0);
  expect(a.view.epoch).toBe(before + 1);
  expect(grown).toBe(true);
  // Served, but the response must not be cached.
  expect(await a.admission.check("e")).toEqual({ status: 200, decision: "leaving" });
  a.putEngine("e", 0, "switching");
  expect((await a.admission.check("e")).decision).toBe("wait");
});
