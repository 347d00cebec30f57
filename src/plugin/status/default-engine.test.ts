import { expect, test } from "vitest";
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { PLAIN } from "../terminal/style.ts";
import { viewPlatform } from "./platform-view.ts";
import { renderTree } from "./render-tree.ts";

const instance = (gateway: Partial<FireboltInstance["spec"]["gateway"]>): FireboltInstance => ({
  metadata: { name: "i", namespace: "ns" },
  spec: { metadata: { engineRegistration: false }, gateway: { metricsPort: 9090, ...gateway }, metadataNG: false },
  status: { phase: "Ready" },
});
const engine = (spec: Partial<FireboltEngine["spec"]>, phase: string, namespace = "ns"): FireboltEngine =>
  ({
    metadata: { name: "adhoc", namespace },
    spec: { instanceRef: "i", replicas: 1, ...spec },
    status: { phase },
  }) as FireboltEngine;
const tree = (
  gateway: Partial<FireboltInstance["spec"]["gateway"]>,
  engines: readonly FireboltEngine[],
  hidden = false,
) =>
  renderTree(
    viewPlatform({
      ...{ nowMs: 0, instances: [instance(gateway)], engines, services: [], enginePods: [], queries: new Map() },
      ...{
        deployments: [],
        statefulSets: [],
        instancePods: [],
        unreadable: new Set(hidden ? ["fireboltengines"] : []),
      },
    }),
    { style: PLAIN, nowMs: 0, showNamespace: false, showPods: false },
  );
const autoStop = { enabled: true, activeReplicas: 1, idleReplicas: 0, idleTimeout: "30m", pollInterval: "1m" };

test("the instance shows its default engine and its domains", () => {
  const shown = tree({ defaultEngine: "adhoc", hostDomains: ["fb.example.com", "localhost"] }, [engine({}, "stable")]);
  expect(shown).toMatch(/^i .* default engine adhoc, hosts <engine>\.fb\.example\.com, <engine>\.localhost$/m);
  expect(shown).not.toContain("default engine of its gateway");
  expect(tree({}, [])).not.toMatch(/default|hosts|waits/);
});

test.each([
  { name: "missing", engines: [], want: /there is no engine adhoc.*: queries that name no engine fail/ },
  { name: "in another namespace", engines: [engine({}, "stable", "elsewhere")], want: /there is no engine adhoc/ },
  {
    name: "stopped for good",
    engines: [engine({ replicas: 0 }, "stopped")],
    want: /adhoc.* is stopped, and no query starts it/,
  },
])("a default engine that is $name is a problem of the instance", ({ engines, want }) => {
  const [, , waits, next] = tree({ defaultEngine: "adhoc" }, engines).split("\n");
  expect(waits).toMatch(want);
  expect(next).toMatch(/next: .*kubectl firebolt.* adhoc/);
});

test.each([
  { name: "a query wakes it", engines: [engine({ replicas: 0, autoStop }, "stopped")], hidden: false },
  { name: "it is starting", engines: [engine({}, "creating")], hidden: false },
  { name: "engines may not be listed", engines: [], hidden: true },
])("no problem where $name", ({ engines, hidden }) => {
  expect(tree({ defaultEngine: "adhoc" }, engines, hidden)).not.toContain("default engine of its gateway");
});
