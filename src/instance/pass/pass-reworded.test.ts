// Passes over a fake cluster in memory: messages of conditions are for people. Another wording, by another version of
// the operator say, neither resets a failed instance nor repeats an event.
import { KubeApiError } from "@firebolt-operator/kube";
import { expect, test } from "vitest";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";

const ACCOUNT = { template: { spec: { serviceAccountName: "mine" } }, metricsPort: 9090 };

/** Another process takes over, after every message was reworded. */
function reword(run: InstanceRun): void {
  const conditions = run.status.conditions?.map((condition) => ({ ...condition, message: "reworded" }));
  run.world.put("FireboltInstance", {
    ...run.instance,
    status: { ...run.status, ...(conditions === undefined ? {} : { conditions }) },
  });
  run.restart();
  run.events.length = 0;
}

function annotate(run: InstanceRun, value: string): void {
  const { metadata, ...rest } = run.instance;
  run.world.put("FireboltInstance", {
    ...rest,
    metadata: { ...metadata, annotations: { "firebolt.io/reset-failed": value } },
  });
}

test.each(["once", "x".repeat(100)])("a used reset value stays used: %s", async (value) => {
  const run = new InstanceRun();
  await run.settle();
  annotate(run, value);
  run.world.drop("Deployment", "lakeside-gateway");
  run.world.intercept = (request) => {
    if (request.startsWith("create Deployment")) throw new KubeApiError("POST", 422, { message: "invalid" });
  };
  for (let pass = 0; pass < 3; pass++) await run.tryPass();
  expect(run.status.phase).toBe("Failed");
  expect(run.status.observedResetFailed?.length).toBeLessThanOrEqual(64);
  reword(run);
  run.forgetRequests();
  expect(await run.tryPass()).toEqual({ afterMs: 300_000 });
  expect(run.world.requests).toEqual([]);
  annotate(run, "twice");
  run.world.intercept = () => undefined;
  await run.settle();
  expect(run.status.phase).toBe("Ready");
  expect(run.status).not.toHaveProperty("observedResetFailed");
});

test("a gateway under the user's account is not reported again", async () => {
  const run = new InstanceRun({ gateway: ACCOUNT });
  run.settings = { ...run.settings, wakeAgent: { image: "agent:1", pullPolicy: "" } };
  await run.settle();
  expect(run.status.reported).toEqual({ wakeDisabled: true });
  reword(run);
  await run.settle();
  expect(run.events).toEqual([]);
  expect(run.message("GatewayReady")).toContain("ServiceAccount mine");
});

test("a cause is not reported again", async () => {
  const run = new InstanceRun();
  await run.settle();
  run.world.report("lakeside-gateway", 0);
  run.world.pods = [
    {
      metadata: { name: "p", namespace: "ns", labels: { "firebolt.io/component": "gateway" } },
      status: {
        phase: "Pending",
        containerStatuses: [
          {
            name: "envoy",
            image: "typo:1",
            imageID: "",
            ready: false,
            restartCount: 0,
            state: { waiting: { reason: "ImagePullBackOff" } },
          },
        ],
      },
    },
  ];
  await run.pass();
  expect(run.events.map(({ reason }) => reason)).toContain("PodFailing");
  reword(run);
  run.nowMs += 5_000;
  await run.pass();
  expect(run.message("GatewayReady")).toContain("cannot be pulled");
  expect(run.events).toEqual([]);
});
