// Runs every command that docs/plugin.md shows, in its order, and compares the output with the manual. With
// UPDATE_DOCS=1 the manual is written instead.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { pods, statefulSets } from "../../src/engine/cluster/kinds.ts";
import { eventually, requestAs } from "../harness/control-plane/requests.ts";
import { comparable } from "./support/comparable-output.ts";
import { type PluginKubelet, startPluginKubelet } from "./support/kubelet.ts";
import { readManual, wordsOf, writeManual } from "./support/manual.ts";
import { NAMESPACE, type PluginCluster, startPluginCluster } from "./support/plugin-cluster.ts";

const MANUAL = join(import.meta.dirname, "../../docs/plugin.md");

let cluster: PluginCluster;
let kubelet: PluginKubelet;
let gateway: Server;
let folder: string;
const busy = { queries: 0 };

function apply(...objects: readonly { readonly kind: string; readonly name: string; readonly spec: object }[]): void {
  const manifests = objects.map(({ kind, name, spec }) =>
    stringify({ apiVersion: "compute.firebolt.io/v1alpha1", kind, metadata: { name, namespace: NAMESPACE }, spec }),
  );
  const args = [`--kubeconfig=${cluster.controlPlane.adminKubeconfig}`, "apply", "-f", "-"];
  execFileSync(cluster.kubectl, args, { input: manifests.join("---\n") });
}

const adhoc = (image: string) => ({
  kind: "FireboltEngine",
  name: "adhoc",
  spec: {
    instanceRef: "lakeside",
    replicas: 3,
    drainCheckInterval: "1s",
    customEngineConfig: { storage: { managed_table_storage: "s3", managed_table_bucket_name: "lakeside-tables" } },
    template: { spec: { containers: [{ name: "engine", image }] } },
  },
});

/** An engine rests before the objects of its last generation are gone. */
async function onlyGeneration(engine: string, generation: number): Promise<void> {
  const scope = { namespace: NAMESPACE, labelSelector: `firebolt.io/engine=${engine}` };
  await eventually(async () => {
    for (const { items } of [await cluster.client.list(pods, scope), await cluster.client.list(statefulSets, scope)]) {
      const generations = new Set(items.map(({ metadata }) => metadata?.labels?.["firebolt.io/generation"]));
      expect([...generations]).toEqual([String(generation)]);
    }
  });
}

const STEPS: Readonly<Record<string, () => Promise<void>>> = {
  async "an image changes while queries run"() {
    const { items } = await cluster.client.list(pods, {
      namespace: NAMESPACE,
      labelSelector: "firebolt.io/engine=adhoc",
    });
    for (const { metadata, status } of items)
      cluster.metrics.answer(status?.podIP ?? "", () =>
        metadata?.name?.endsWith("-0") ? { running: busy.queries } : {},
      );
    busy.queries = 4;
    apply(adhoc("registry.example.com/engine:2.1"));
    await eventually(async () => {
      const { status } = await cluster.client.get(FireboltEngine, { namespace: NAMESPACE, name: "adhoc" });
      expect(status?.phase).toBe("draining");
      // The first drain check has been made and reported.
      expect(JSON.stringify(status?.conditions)).toContain("still runs queries");
    });
  },
  async "the queries end and an engine asks for nodes that do not exist"() {
    busy.queries = 0;
    await cluster.rested("adhoc");
    await onlyGeneration("adhoc", 1);
    const template = { spec: { nodeSelector: { "example.com/pool": "accel" } } };
    apply({ kind: "FireboltEngine", name: "training", spec: { instanceRef: "lakeside", replicas: 1, template } });
    await eventually(async () =>
      expect((await cluster.plugin(["status"])).stdout).toContain("training-g0-0: cannot be scheduled"),
    );
  },
  "the pods of the generation before are gone": () => onlyGeneration("adhoc", 2),
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "plugin-manual-"));
  cluster = await startPluginCluster();
  gateway = createServer((_, response) => response.end("42\n")).listen(0, "127.0.0.1");
  await once(gateway, "listening");
  const address = gateway.address();
  kubelet = await startPluginKubelet(cluster.controlPlane, {
    nodes: cluster.nodes,
    namespace: NAMESPACE,
    containers: ["engine", "metadata", "envoy", "postgresql"],
    forwardTo: typeof address === "object" && address !== null ? address.port : 0,
  });
  kubelet.say("engine", "2026-01-01T08:00:00Z", [
    '{"level":"info","msg":"reading configuration"}',
    '{"level":"info","msg":"joined the cluster"}',
    '{"level":"info","msg":"ready for queries"}',
  ]);
  await provideVolume();
  const resources = { requests: { cpu: "1", memory: "4Gi" } };
  apply(
    { kind: "FireboltInstance", name: "lakeside", spec: { metadata: {}, gateway: {} } },
    {
      kind: "FireboltEngineClass",
      name: "large",
      spec: { template: { spec: { containers: [{ name: "engine", resources }] } } },
    },
    adhoc("registry.example.com/engine:2.0"),
    {
      kind: "FireboltEngine",
      name: "reporting",
      spec: { instanceRef: "lakeside", engineClassRef: "large", replicas: 1 },
    },
  );
  await Promise.all([cluster.rested("adhoc"), cluster.rested("reporting")]);
  await eventually(async () =>
    expect((await cluster.plugin(["status"])).stdout).toMatch(
      /lakeside +Ready .*metadata 1\/1, gateway 2\/2, postgres 1\/1/,
    ),
  );
}, 300_000);

afterAll(async () => {
  await kubelet?.[Symbol.asyncDispose]();
  gateway?.close();
  await cluster?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** What a provisioner would make for the database of the instance. */
async function provideVolume(): Promise<void> {
  const spec = {
    capacity: { storage: "10Gi" },
    accessModes: ["ReadWriteOnce"],
    claimRef: { namespace: NAMESPACE, name: "data-lakeside-metadata-pg-0" },
    hostPath: { path: "/tmp/none" },
  };
  const body = { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "catalogue" }, spec };
  await requestAs(cluster.controlPlane.adminKubeconfig, { method: "POST", path: "/api/v1/persistentvolumes", body });
}

test("the manual shows what the plugin prints", async () => {
  const manual = readFileSync(MANUAL, "utf8");
  const outputs: string[] = [];
  const shown: string[] = [];
  for (const part of readManual(manual)) {
    if (part.type === "file") writeFileSync(join(folder, part.name), part.content);
    else if (part.type === "step") {
      const step = STEPS[part.name];
      if (step === undefined) throw new Error(`the manual contains an unknown step: ${part.name}`);
      await step();
    } else {
      const [kubectl, firebolt, ...args] = wordsOf(part.line);
      expect([kubectl, firebolt], part.line).toEqual(["kubectl", "firebolt"]);
      const { stdout, stderr } = await cluster.plugin(args, { cwd: folder });
      outputs.push(
        `${stdout}${stderr}`
          .replaceAll(` --kubeconfig=${cluster.controlPlane.adminKubeconfig}`, "")
          .replaceAll(" -n analytics", ""),
      );
      shown.push(part.output);
    }
  }
  expect(outputs.length).toBeGreaterThan(15);
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(MANUAL, writeManual(manual, outputs));
  else expect(outputs.map(comparable)).toEqual(shown.map(comparable));
}, 300_000);
