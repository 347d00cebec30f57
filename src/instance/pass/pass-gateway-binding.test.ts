// Passes over a fake cluster in memory: the API server refuses to bind a Role that it does not know, and looks Roles up
// in a cache of its own. One that was written a moment ago is waited for; one that is nobody's here is an error.
import { KubeApiError } from "@firebolt-operator/kube";
import { expect, test } from "vitest";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";

const NAME = "lakeside-gateway";

async function withUnknownRole(settings: Partial<InstanceRun["settings"]> = {}): Promise<InstanceRun> {
  const run = new InstanceRun();
  run.settings = { ...run.settings, ...settings };
  await run.settle();
  run.world.drop("RoleBinding", NAME);
  run.world.intercept = (request) => {
    if (request.startsWith(`create RoleBinding ${NAME}`))
      throw new KubeApiError("POST", 404, { reason: "NotFound", message: `rolebindings "${NAME}" not found` });
  };
  return run;
}

test("a Role of the instance's own: the pass is repeated soon, and nothing has failed", async () => {
  const run = await withUnknownRole();
  const before = run.status;
  expect(await run.tryPass()).toEqual({ afterMs: 200 });
  expect(run.status).toEqual(before);
  run.world.intercept = () => undefined;
  await run.settle();
  expect(run.world.inventory()).toContain(`RoleBinding ${NAME}`);
});

test("a ClusterRole that all gateways share: the condition names what is missing", async () => {
  const run = await withUnknownRole({ gatewayClusterRole: "fo-gateway-wake" });
  expect(await run.tryPass()).toEqual({ afterMs: 10_000 });
  expect(run.condition("GatewayReady")).toBe("False/EnsureFailed");
  expect(run.message("GatewayReady")).toContain(`RoleBinding ${NAME}`);
});
