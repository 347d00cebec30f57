// Passes over a fake cluster in memory: a ServiceAccount of the gateway that was deleted and created again. Tokens of
// running pods belong to the deleted account, so the pods are replaced; an account that was never replaced leaves no
// trace on them.
import { expect, test } from "vitest";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";

const STAMP = "firebolt.io/service-account-uid";
const stampOf = (run: InstanceRun) =>
  run.world.get("Deployment", "lakeside-gateway")?.spec?.template.metadata?.annotations?.[STAMP];
const accountOf = (run: InstanceRun) => run.world.get("ServiceAccount", "lakeside-gateway")?.metadata?.uid;
const restarts = (run: InstanceRun) => run.events.filter(({ reason }) => reason === "GatewayRestarted");

test("an account that was never replaced is remembered, and nothing is set on the pods", async () => {
  const run = new InstanceRun();
  await run.settle();
  expect(run.status.gatewayAccount).toEqual({ uid: accountOf(run) });
  expect(stampOf(run)).toBeUndefined();
  expect(restarts(run)).toEqual([]);
});

test("a replaced account rolls the gateway once, with an event, whichever process leads", async () => {
  const run = new InstanceRun();
  await run.settle();
  const before = accountOf(run);
  run.world.drop("ServiceAccount", "lakeside-gateway");
  await run.settle();
  expect(accountOf(run)).not.toBe(before);
  expect(stampOf(run)).toBe(accountOf(run));
  expect(restarts(run)).toMatchObject([{ type: "Warning" }]);
  run.restart();
  run.forgetRequests();
  await run.settle();
  expect(run.world.requests.filter((request) => !request.startsWith("get "))).toEqual([]);
  run.world.drop("ServiceAccount", "lakeside-gateway");
  await run.settle();
  expect(stampOf(run)).toBe(accountOf(run));
  expect(restarts(run)).toHaveLength(2);
});

test("an account that another writer created counts once the instance owns it", async () => {
  const run = new InstanceRun();
  await run.settle();
  const account = run.world.get("ServiceAccount", "lakeside-gateway");
  run.world.put("ServiceAccount", { ...account, metadata: { ...account?.metadata, uid: "restored" } });
  await run.settle();
  expect(stampOf(run)).toBe("restored");
});

test("a stale account in a cache that lags behind rolls nothing", async () => {
  const run = new InstanceRun();
  await run.settle();
  run.world.drop("ServiceAccount", "lakeside-gateway");
  const { child } = run.world;
  await run.settle();
  const stamp = stampOf(run);
  run.world.child = (kind, key) => {
    const found = child(kind, key);
    return kind === "ServiceAccount" && found !== undefined
      ? { ...found, metadata: { ...found.metadata, uid: "of-before" } }
      : found;
  };
  await run.tryPass();
  expect(stampOf(run)).toBe(stamp);
  expect(restarts(run)).toHaveLength(1);
});

test("an account of the user's is not watched", async () => {
  const run = new InstanceRun({ gateway: { metricsPort: 9090, template: { spec: { serviceAccountName: "theirs" } } } });
  await run.settle();
  expect(run.status).not.toHaveProperty("gatewayAccount");
});
