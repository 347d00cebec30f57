// The bundled program with every controller on a real control plane with simulated nodes: the examples reach Ready, a
// change of image rolls, and everything is deleted again.

import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { addNodes } from "../../dev/control-plane/nodes.ts";
import { ENGINE_CONTRACT } from "../../src/api/engine-contract.ts";
import { eventually, requestAs } from "../harness/control-plane/requests.ts";
import { exampleOf, KINDS, type KindName } from "../harness/fixtures/manifests.ts";
import { requirePodNetwork } from "../harness/pods/pod-network.ts";
import { buildProgram, type OperatorProcess, startOperator } from "../harness/programs/operator-process.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

const ROOT = join(import.meta.dirname, "../..");
const API = "/apis/compute.firebolt.io/v1alpha1/namespaces/analytics";
const IDLE = `${GAUGE.running} 0\n${GAUGE.suspended} 0\n`;

let cluster: ControlPlane;
let operator: OperatorProcess;
let metrics: Server;

const request = (method: "GET" | "POST" | "DELETE", path: string, body?: object) =>
  requestAs(cluster.adminKubeconfig, { method, path, ...(body === undefined ? {} : { body }) }, [404]);
const get = async (path: string): Promise<unknown> => (await request("GET", path)).body;

async function applyExample(file: string, kind: KindName): Promise<void> {
  await request("POST", `${API}/${KINDS[kind].plural}`, exampleOf(file, kind));
}

const condition = (object: unknown, type: string): unknown => {
  const conditions = valueAt(object, ["status", "conditions"]);
  return Array.isArray(conditions) ? conditions.find((one) => valueAt(one, ["type"]) === type) : undefined;
};

beforeAll(async () => {
  requirePodNetwork();
  // Every simulated pod's address is local here: one server responds to the drain checks of all of them.
  metrics = createServer((_, response) => response.end(IDLE));
  await new Promise<void>((resolve, reject) => metrics.once("error", reject).listen(9090, "0.0.0.0", resolve));
  const components = ["kube-controller-manager", "kube-scheduler", "kwok"] as const;
  [cluster] = await Promise.all([startControlPlane({ components, crds: join(ROOT, "config/crd") }), buildProgram()]);
  await addNodes(cluster.adminKubeconfig, { count: 2 });
  await request("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "analytics" } });
  operator = startOperator([
    `--kubeconfig=${cluster.adminKubeconfig}`,
    "--health-probe-bind-address=0",
    // Nobody queries these engines.
    "--drain-settle=0s",
  ]);
}, 300_000);

afterAll(async () => {
  await operator?.[Symbol.asyncDispose]();
  metrics?.close();
  await cluster?.stop();
});

test("instance, class and engine of the examples come up", async () => {
  await applyExample("engine-class-accelerator.yaml", "FireboltEngineClass");
  await applyExample("engine-minimal.yaml", "FireboltEngine");
  await eventually(async () =>
    expect(condition(await get(`${API}/fireboltengines/adhoc`), "Ready")).toMatchObject({ reason: "InstanceNotReady" }),
  );
  await applyExample("instance-minimal.yaml", "FireboltInstance");
  await eventually(
    async () => {
      expect(await get(`${API}/fireboltinstances/lakeside`)).toMatchObject({
        spec: { id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/) },
        status: { phase: "Ready", metadataEndpoint: "lakeside-metadata.analytics.svc.cluster.local:7000" },
      });
      expect(condition(await get(`${API}/fireboltengines/adhoc`), "Ready")).toMatchObject({
        status: "True",
        reason: "EngineReady",
      });
      expect(condition(await get(`${API}/fireboltengineclasses/accel-large`), "Ready")).toMatchObject({
        reason: "Admissible",
      });
    },
    { timeoutMs: 150_000 },
  );
});

test("a change of image rolls to the next generation and leaves nothing of the old one", async () => {
  const template = { spec: { containers: [{ name: "engine", image: "example.com/engine:next" }] } };
  await requestAs(cluster.adminKubeconfig, {
    method: "PATCH",
    path: `${API}/fireboltengines/adhoc`,
    body: { spec: { template } },
    contentType: "application/merge-patch+json",
  });
  await eventually(
    async () => {
      const engine = await get(`${API}/fireboltengines/adhoc`);
      expect(engine).toMatchObject({ status: { phase: "stable", activeGeneration: 1 } });
      expect(condition(engine, "Ready")).toMatchObject({ status: "True" });
      expect(await get("/api/v1/namespaces/analytics/services/adhoc-service")).toMatchObject({
        spec: { selector: { "firebolt.io/generation": "1" } },
      });
      expect(await get("/apis/apps/v1/namespaces/analytics/statefulsets/adhoc-g0")).toMatchObject({ code: 404 });
    },
    { timeoutMs: 150_000 },
  );
});

test("deleting engine, class and instance leaves nothing behind", async () => {
  await request("DELETE", `${API}/fireboltengines/adhoc`);
  await request("DELETE", `${API}/fireboltengineclasses/accel-large`);
  await request("DELETE", `${API}/fireboltinstances/lakeside`);
  const kinds = [
    "/apis/apps/v1/namespaces/analytics/statefulsets",
    "/apis/apps/v1/namespaces/analytics/deployments",
    "/api/v1/namespaces/analytics/services",
    "/api/v1/namespaces/analytics/pods",
    "/apis/policy/v1/namespaces/analytics/poddisruptionbudgets",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/analytics/roles",
    `${API}/fireboltengines`,
    `${API}/fireboltengineclasses`,
    `${API}/fireboltinstances`,
  ];
  await eventually(
    async () => {
      for (const path of kinds) expect(await get(path), path).toMatchObject({ items: [] });
    },
    { timeoutMs: 150_000 },
  );
  expect(operator.log().filter(({ level }) => level === "error")).toEqual([]);
});
