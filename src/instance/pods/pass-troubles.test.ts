// Passes over a fake cluster in memory: conditions and events name why a pod is not ready, and recover with it; an
// idle instance lists no pods.
import { describe, expect, test } from "vitest";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";
import type { Pod } from "../../pods/pod-trouble.ts";

const pod = (name: string, component: string, waiting: string): Pod => ({
  metadata: { name, namespace: "ns", labels: { "firebolt.io/component": component } },
  status: {
    phase: "Pending",
    containerStatuses: [
      {
        name: component === "gateway" ? "envoy" : component,
        image: "typo:1",
        imageID: "",
        ready: false,
        restartCount: 0,
        state: { waiting: { reason: waiting } },
      },
    ],
  },
});

const failing = (run: InstanceRun) => run.events.filter(({ reason }) => reason === "PodFailing");
const PULL = 'pod lakeside-gateway-new: container envoy: image "typo:1" cannot be pulled (ImagePullBackOff)';

/** A roll whose new pod does not start while both old ones serve. */
function stickRoll(run: InstanceRun): void {
  const found = run.world.get("Deployment", "lakeside-gateway");
  const generation = found?.metadata?.generation ?? 0;
  run.world.put("Deployment", {
    ...found,
    status: { observedGeneration: generation, replicas: 3, updatedReplicas: 1, readyReplicas: 2 },
  });
  run.world.pods = [pod("lakeside-gateway-new", "gateway", "ImagePullBackOff")];
}

test("a gateway roll that is stuck while a replica serves: still ready, and the condition reports it", async () => {
  const run = new InstanceRun();
  await run.settle();
  stickRoll(run);
  expect(await run.pass()).toEqual({ afterMs: 5_000 });
  expect(run.condition("GatewayReady")).toBe("True/Ready");
  expect(run.message("GatewayReady")).toBe(
    `Deployment lakeside-gateway has a ready replica, but its rollout is stuck: ${PULL}`,
  );
  expect(run.status.phase).toBe("Ready");
  expect(failing(run)).toMatchObject([{ type: "Warning", note: expect.stringMatching(/cannot be pulled.*; next: /) }]);
  expect(run.passes.at(-1)?.stuck).toEqual(["gateway"]);
  // Neither the next passes nor another process report it again, and nothing is written.
  run.restart();
  run.forgetRequests();
  for (let pass = 0; pass < 3; pass++) {
    run.nowMs += 5_000;
    await run.pass();
  }
  expect(failing(run)).toHaveLength(1);
  expect(run.world.requests.filter((request) => request.startsWith("status"))).toEqual([]);

  run.world.pods = [];
  await run.settle();
  expect(run.message("GatewayReady")).toBe("Deployment lakeside-gateway has a ready replica");
  expect(run.passes.at(-1)?.stuck).toEqual([]);
});

test("a metadata service that does not start shows its pod's trouble in Ready, or that of its database first", async () => {
  const run = new InstanceRun();
  await run.settle();
  run.world.pods = [pod("lakeside-metadata-x", "metadata", "ErrImagePull")];
  run.world.report("lakeside-metadata", 0);
  await run.pass();
  expect(run.condition("Ready")).toBe("False/Provisioning");
  expect(run.message("Ready")).toMatch(
    /^MetadataReady: Deployment lakeside-metadata has no ready replica: pod lakeside-metadata-x: container metadata: image/,
  );
  expect(failing(run)[0]?.note).toMatch(/; next: correct the image reference(?!.*ALTER ROLE)/);
  const statefulSet = run.world.get("StatefulSet", "lakeside-metadata-pg");
  run.world.put("StatefulSet", { ...statefulSet, status: { replicas: 1, readyReplicas: 0 } });
  run.world.pods = [...run.world.pods, pod("lakeside-metadata-pg-0", "postgres", "ImagePullBackOff")];
  run.nowMs += 5_000;
  await run.pass();
  expect(run.message("Ready")).toMatch(/has no ready replica: pod lakeside-metadata-pg-0: container postgres/);
});

describe("a metadata service that runs and does not get ready may be rejected by its database", () => {
  const crashing: Pod = {
    ...pod("lakeside-metadata-x", "metadata", ""),
    status: {
      containerStatuses: [
        {
          ...{ name: "metadata", image: "m:1", imageID: "", ready: false, restartCount: 2 },
          state: { waiting: { reason: "CrashLoopBackOff" } },
          lastState: { terminated: { exitCode: 1, reason: "Error" } },
        },
      ],
    },
  };
  const failed = async (spec: ConstructorParameters<typeof InstanceRun>[0] = {}) => {
    const run = new InstanceRun(spec);
    run.world.put("Secret", { metadata: { name: "login" }, data: { username: "dQ==", password: "cA==" } });
    await run.settle();
    run.world.pods = [crashing];
    run.world.report("lakeside-metadata", 0);
    await run.pass();
    return failing(run)[0]?.note ?? "";
  };

  test("with the built-in one the event has the command that sets the password", async () => {
    expect(await failed()).toMatch(
      /restore Secret lakeside-metadata-postgres-creds, .*lakeside-metadata-pg-0.*ALTER ROLE/,
    );
  });

  test("with an external one it names the Secret, and no pod that does not exist", async () => {
    const database = { host: "db", port: 5432, database: "meta", schema: "public" };
    const postgres = { ...database, credentialsSecretRef: { name: "login" } };
    const note = await failed({ metadata: { engineRegistration: false, postgres } });
    expect(note).toMatch(/restore Secret login$/);
  });
});

test("pods are listed only while something is not complete, and not at every event", async () => {
  const run = new InstanceRun();
  await run.settle();
  expect(run.world.requests).not.toContain("list Pod");
  stickRoll(run);
  for (let pass = 0; pass < 4; pass++) {
    run.nowMs += 1_000;
    await run.pass();
  }
  expect(run.world.requests.filter((request) => request === "list Pod")).toHaveLength(1);
});
