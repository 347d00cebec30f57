// Passes that fail, as people see them: Ready's message, one event, and both gone when the fault is.
import { KubeApiError } from "@firebolt-operator/kube";
import { expect, test } from "vitest";
import { image } from "../../../test/engine/support/fake-cluster.ts";
import { type FakeTimedCluster, MINUTE, resting, timed } from "../../../test/engine/support/fake-timed-cluster.ts";

const FORBIDDEN = 'pods is forbidden: User "operator" cannot list resource "pods"';
const refused = (request: string, status = 403, reason = "Forbidden", message = FORBIDDEN) =>
  new KubeApiError(request, status, { reason, message });

function watched(world: FakeTimedCluster): string[] {
  const recorded: string[] = [];
  world.note = (reason, note) => {
    if (reason === "ReconcileFailed") recorded.push(note);
  };
  return recorded;
}

async function draining(): Promise<FakeTimedCluster> {
  const world = await timed();
  world.edit(image("new:1"));
  while (world.status?.phase !== "draining") {
    await world.pass();
    world.settle();
  }
  return world;
}

test("what the operator may not read is named once, behind what was last found, until it may", async () => {
  const world = await draining();
  const recorded = watched(world);
  for (const pod of ["e-g0-0", "e-g0-1"]) world.drop("Pod", pod);
  world.intercept = (request) => {
    if (request.startsWith("list Pod")) throw refused("GET pods");
  };
  await expect(world.pass()).rejects.toThrow("forbidden");
  const { message } = world.ready ?? {};
  expect(message).toBe(
    `Engine is rolling out generation 1 (phase draining); the last reconcile failed: GET pods: 403 Forbidden: ${FORBIDDEN}`,
  );
  expect(recorded).toEqual([`GET pods: 403 Forbidden: ${FORBIDDEN}`]);
  world.taken();
  for (let count = 0; count < 5; count++) {
    world.nowMs += MINUTE;
    await expect(world.pass()).rejects.toThrow("forbidden");
  }
  expect(world.taken().filter((request) => request.startsWith("status"))).toEqual([]);
  expect(recorded).toHaveLength(1);
  world.intercept = () => undefined;
  await world.run();
  expect(world.ready?.message).toBe("Generation 1 is serving");
});

test.each(["what is observed", "what is written"])(
  "with an older CRD, %s fails again after every restart: the message names it once",
  async (what) => {
    const world = await draining();
    const isRead = what === "what is observed";
    if (isRead) for (const pod of ["e-g0-0", "e-g0-1"]) world.drop("Pod", pod);
    else {
      world.drop("Service", "e-service");
      world.queries = () => Promise.resolve({ type: "pending" });
    }
    const cause = refused(isRead ? "GET pods" : "POST services", 418, "Teapot", "no");
    world.intercept = (request) => {
      if (request.startsWith(isRead ? "list Pod" : "route Service")) throw cause;
    };
    for (let restart = 0; restart < 3; restart++) {
      await expect(world.pass()).rejects.toThrow("418");
      expect(world.ready?.message).toBe(
        `Engine is rolling out generation 1 (phase draining); the last reconcile failed: ${cause.message}`,
      );
      // The CRD prunes the field, and the memory of the process ends with it.
      const { status, ...engine } = world.get("FireboltEngine", "e") ?? {};
      if (status === undefined) throw new Error("the engine has no status");
      const { reconcileFailure: _, ...kept } = status;
      world.put("FireboltEngine", { ...engine, status: kept });
    }
  },
);

test.each([
  ["a conflict", refused("PUT x", 409, "Conflict", "the object has been modified")],
  ["a server that is overloaded", refused("GET pods", 429, "TooManyRequests", "wait")],
  ["a server that fails", refused("GET pods", 503, "ServiceUnavailable", "etcd")],
])("%s ends by itself: nothing is written for it", async (_, error) => {
  const world = await draining();
  const recorded = watched(world);
  const before = structuredClone(world.status);
  for (const pod of ["e-g0-0", "e-g0-1"]) world.drop("Pod", pod);
  world.intercept = (request) => {
    if (request.startsWith("list Pod")) throw error;
  };
  await expect(world.pass()).rejects.toThrow(error.message);
  expect(world.status).toEqual(before);
  expect(recorded).toEqual([]);
});

test("an engine that cannot be woken, because the write is rejected, names the reason", async () => {
  const world = await resting({}, 0);
  const recorded = watched(world);
  world.nowMs += MINUTE;
  world.stamp(world.nowMs);
  const because = refused("PATCH e", 500, "InternalError", 'failed calling webhook "engines": connection refused');
  world.patchReplicas = () => Promise.resolve({ type: "refused", because } as const);
  await expect(world.pass()).rejects.toMatchObject({ afterMs: 10_000, cause: because });
  await expect(world.pass()).rejects.toMatchObject({ afterMs: 10_000, cause: because });
  const cause = `spec.replicas stays at 0 instead of 2 (WakeRequested): ${because.message}`;
  expect(world.ready?.message).toBe(`Engine is stopped (spec.replicas is 0); the last reconcile failed: ${cause}`);
  expect(recorded).toEqual([cause]);
  Reflect.deleteProperty(world, "patchReplicas");
  await world.rest();
  expect([world.replicas, world.ready?.message]).toEqual([2, "Generation 1 is serving"]);
});

const reset = (port: number) =>
  refused(
    "PATCH e",
    500,
    "InternalError",
    `failed calling webhook "engines": Post "https://h.s.svc:443/v":\nread tcp 10.244.0.5:${port}->10.96.1.1:443: read: connection reset by peer`,
  );

test.each(["a wake", "an object"])(
  "%s that a webhook rejects over another connection each time is told once",
  async (what) => {
    const world = what === "a wake" ? await resting({}, 0) : await timed();
    const recorded: string[] = [];
    world.note = (reason, note) => void recorded.push(`${reason}: ${note}`);
    let port = 40_000;
    world.nowMs += MINUTE;
    if (what === "a wake") {
      world.stamp(world.nowMs);
      world.patchReplicas = () => Promise.resolve({ type: "refused", because: reset(port++) } as const);
    } else {
      world.edit(image("new:1"));
      world.intercept = (request) => {
        if (request.startsWith("create StatefulSet")) throw reset(port++);
      };
    }
    world.taken();
    for (let count = 0; count < 20; count++) {
      world.nowMs += 5_000;
      await world.pass().catch((error: unknown) => expect(String(error)).toContain("webhook"));
    }
    expect(port, "it was tried again and again").toBeGreaterThan(40_015);
    expect(world.ready?.message).toContain("read tcp <ip>:443: read: connection reset by peer");
    expect(world.taken().filter((request) => request.startsWith("status")).length).toBeLessThan(4);
    expect(recorded.filter((one) => one.includes("reset by peer"))).toHaveLength(1);
  },
);
