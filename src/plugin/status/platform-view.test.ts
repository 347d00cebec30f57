import { expect, test } from "vitest";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Deployment, V1Pod, V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import { PLAIN } from "../terminal/style.ts";
import { viewPlatform } from "./platform-view.ts";
import { renderTree } from "./render-tree.ts";

const metadata = (name: string, component: string) => ({
  ...{ name, namespace: "ns" },
  labels: { [LABEL.instance]: "i", [LABEL.component]: component },
});
const workload = (component: string, replicas: number) => ({
  metadata: metadata(`i-${component}`, component),
  spec: { replicas, selector: {}, template: {} },
});
const readyPod = (component: string): V1Pod => ({
  metadata: metadata(`i-${component}-0`, component),
  spec: { containers: [] },
  status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
});
const instance: FireboltInstance = {
  metadata: { name: "i", namespace: "ns" },
  spec: { metadata: { engineRegistration: false }, gateway: { metricsPort: 9090 }, metadataNG: false },
  status: { phase: "Degraded" },
};

test.each([
  [0, "2/3", "postgres 0/1"],
  [1, "3/3", "postgres 1/1"],
])("a PostgreSQL of %i replicas: %s", (replicas, ready, text) => {
  const deployments: V1Deployment[] = [workload("metadata", 1), workload("gateway", 1)];
  const statefulSets: V1StatefulSet[] = [workload("postgres", replicas)];
  const running = ["metadata", "gateway", ...(replicas > 0 ? ["postgres"] : [])];
  const view = viewPlatform({
    ...{ nowMs: 0, instances: [instance], engines: [], services: [], enginePods: [], queries: new Map() },
    ...{ deployments, statefulSets, instancePods: running.map(readyPod) },
  });
  const tree = renderTree(view, { style: PLAIN, nowMs: 0, showNamespace: false, showPods: false });
  expect(tree).toMatch(new RegExp(`^i +Degraded +${ready} .*${text}`, "m"));
});
