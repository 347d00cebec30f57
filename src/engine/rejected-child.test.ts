import { expect, test } from "vitest";
import { cluster } from "../../test/support/engine-cluster.ts";
import { KubeApiError } from "../kube/errors.ts";

const refused = new KubeApiError("create statefulsets.apps ns/e-g0", 422, {
  reason: "Invalid",
  message: 'StatefulSet.apps "e-g0" is invalid: spec.template.spec.tolerations[0].operator: Unsupported value: "Maybe"',
});

test("a rendered object that the API server refuses for good ends in a condition that names the field", async () => {
  const world = cluster();
  await world.pass();
  await world.pass();
  world.intercept = (request) => {
    if (request.startsWith("create StatefulSet")) throw refused;
  };
  expect(await world.pass()).toEqual({ afterMs: 10_000 });
  expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 0, activeGeneration: -1 });
  expect(world.ready).toMatchObject({
    status: "False",
    reason: "ObjectRejected",
    message: expect.stringContaining("spec.template.spec.tolerations[0].operator"),
  });
  expect(world.events).toEqual(["ObjectRejected"]);

  // Nothing new to say: the next pass tries the object again and writes no status.
  world.taken();
  expect(await world.pass()).toEqual({ afterMs: 10_000 });
  const requests = world.taken();
  expect(requests).toContain("create StatefulSet e-g0");
  expect(requests.filter((request) => request.includes("status"))).toEqual([]);
  expect(world.events).toEqual(["ObjectRejected"]);

  world.intercept = () => undefined;
  await world.run();
  expect(world.ready).toMatchObject({ status: "True", reason: "EngineReady" });
});

test("any other refusal of a write still fails the pass (behaviour §1.13)", async () => {
  const world = cluster();
  await world.pass();
  await world.pass();
  world.intercept = (request) => {
    if (request.startsWith("create StatefulSet")) throw new KubeApiError("create", 500, { reason: "InternalError" });
  };
  await expect(world.pass()).rejects.toThrow("500");
  expect(world.ready).toMatchObject({ reason: "Initializing" });
});
