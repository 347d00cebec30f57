import { KubeApiError } from "@firebolt-operator/kube";
import { expect, test } from "vitest";
import { cluster, image, stable } from "../../../test/engine/support/fake-cluster.ts";

const refused = new KubeApiError("create statefulsets.apps ns/e-g0", 422, {
  reason: "Invalid",
  message: 'StatefulSet.apps "e-g0" is invalid: spec.template.spec.tolerations[0].operator: Unsupported value: "Maybe"',
});

test("a rendered object that the API server rejects ends in a condition that names the field", async () => {
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

test.each([
  ["403 of a policy or a quota", 403, "Forbidden", "exceeded quota: objects, requested: count/statefulsets.apps=1"],
  ["400 of a policy", 400, "BadRequest", "admission webhook denied the request: no tolerations"],
  ["a webhook that cannot be called", 500, "InternalError", 'failed calling webhook "x": connection refused'],
])(
  "refusals-show-on-resource: %s is shown on the engine and tried again at the pace of a gate",
  async (_, code, reason, message) => {
    const world = cluster();
    await world.pass();
    await world.pass();
    world.intercept = (request) => {
      if (request.startsWith("create StatefulSet")) throw new KubeApiError("create", code, { reason, message });
    };
    for (let pass = 0; pass < 5; pass++) expect(await world.pass()).toEqual({ afterMs: 10_000 });
    expect(world.ready).toMatchObject({ status: "False", reason: "ObjectRejected" });
    expect(world.ready?.message).toContain(message);
    expect(world.events).toEqual(["ObjectRejected"]);
    world.intercept = () => undefined;
    await world.run();
    expect(world.ready).toMatchObject({ status: "True", reason: "EngineReady" });
  },
);

test("any other failure of a write still fails the pass", async () => {
  const world = cluster();
  await world.pass();
  await world.pass();
  world.intercept = (request) => {
    if (request.startsWith("create StatefulSet")) throw new KubeApiError("create", 500, { reason: "InternalError" });
  };
  await expect(world.pass()).rejects.toThrow("500");
  expect(world.ready).toMatchObject({ reason: "Rolling" });
});

test("what was observed is stored although a repair fails: Ready does not stay True without pods", async () => {
  const world = await stable();
  world.drop("ConfigMap", "e-g0-config");
  world.settle(false);
  world.intercept = (request) => {
    if (request.startsWith("create ConfigMap")) throw new KubeApiError("create", 500, { reason: "InternalError" });
  };
  await expect(world.pass()).rejects.toThrow("500");
  expect(world.ready).toMatchObject({ status: "False", reason: "PodsNotReady" });
});

test("the routing Service of what serves is restored while a new generation cannot be written", async () => {
  const world = await stable();
  world.edit(image("new:1"));
  world.intercept = (request) => {
    if (request.startsWith("create StatefulSet")) throw new KubeApiError("create", 403, { reason: "Forbidden" });
  };
  for (let pass = 0; pass < 3; pass++) await world.pass();
  expect(world.ready).toMatchObject({ reason: "ObjectRejected" });
  world.drop("Service", "e-service");
  await world.pass();
  expect(world.get("Service", "e-service")?.spec?.selector?.["firebolt.io/generation"]).toBe("0");
});

test("the routing Service of what serves is restored while another object has a name of the new generation", async () => {
  const world = await stable();
  world.edit(image("new:1"));
  world.put("ConfigMap", { metadata: { name: "e-g1-config", labels: { "firebolt.io/engine": "e" } } });
  await world.pass();
  world.drop("Service", "e-service");
  await world.pass();
  expect(world.ready).toMatchObject({ reason: "NameInUse" });
  expect(world.get("Service", "e-service")?.spec?.selector?.["firebolt.io/generation"]).toBe("0");
});
