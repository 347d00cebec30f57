// One metadata pod per database: real Deployment controllers, an old pod that is still terminating, and Deployments as earlier
// versions and other writers have left them.
import { createKubeClient, type KubeClient } from "@firebolt-operator/kube/client";
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { OPERATOR_DEFAULTS } from "../../src/api/operator-defaults.ts";
import { KINDS } from "../../src/instance/cluster/kinds.ts";
import { withRenderedHash } from "../../src/instance/drift/as-rendered.ts";
import type { Rendered } from "../../src/instance/model/children.ts";
import { renderInstanceObjects } from "../../src/instance/render/instance-objects.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { clusterConfig, Pod } from "../harness/control-plane/test-client.ts";
import { startInstanceOperator } from "../harness/operator/instance-operator.ts";
import { fastClock } from "./support/fast-clock.ts";
import { type InstanceCluster, startInstanceCluster, type TestNamespace } from "./support/instance-cluster.ts";
import { reaches, SPEED } from "./support/instance-harness.ts";

const METADATA = "lakeside-metadata";
const HELD = "example.com/held";

let cluster: InstanceCluster;
let client: KubeClient;
beforeAll(async () => {
  cluster = await startInstanceCluster();
  client = createKubeClient({ config: await clusterConfig(cluster.adminKubeconfig) });
});
afterAll(async () => {
  client?.close();
  await cluster?.[Symbol.asyncDispose]();
});

const startOperator = () => startInstanceOperator({ kubeconfig: cluster.adminKubeconfig, clock: fastClock(SPEED) });

const deploymentOf = (ns: TestNamespace) => ns.get("Deployment", METADATA);

const replicaSetsOf = async (ns: TestNamespace): Promise<readonly string[]> =>
  (await ns.names("ReplicaSet")).filter((name) => name.startsWith(`${METADATA}-`));

/** Every created and deleted metadata pod, in the order in which the API server stored it. */
function watchMetadataPods(ns: TestNamespace): {
  readonly seen: readonly string[];
  readonly stop: () => Promise<void>;
} {
  const ending = new AbortController();
  const seen: string[] = [];
  const watching = (async () => {
    const events = client.watch(Pod, {
      signal: ending.signal,
      namespace: ns.name,
      labelSelector: "firebolt.io/component=metadata",
      timeoutSeconds: 300,
      idleTimeoutMs: 300_000,
    });
    for await (const { type, object } of events)
      if (type === "ADDED" || type === "DELETED") seen.push(`${type} ${object.metadata?.name}`);
  })();
  const stop = async (): Promise<void> => {
    ending.abort();
    await watching.catch((error: unknown) => {
      if (!ending.signal.aborted) throw error;
    });
  };
  return { seen, stop };
}

test("the next pod is created after the old one is deleted, not while it terminates", async () => {
  await using _operator = await startOperator();
  const ns = await cluster.namespace();
  await ns.createInstance();
  await reaches(ns, "Ready");
  const pods = watchMetadataPods(ns);
  await eventually(() => expect(pods.seen).toHaveLength(1));
  const old = (pods.seen[0] ?? "").replace("ADDED ", "");
  await ns.patch("Pod", old, { metadata: { finalizers: [HELD] } });
  const labels = { team: "a" };
  await ns.patch("FireboltInstance", "lakeside", { spec: { metadata: { template: { metadata: { labels } } } } });
  await eventually(async () => {
    expect(valueAt(await ns.get("Pod", old), ["metadata", "deletionTimestamp"])).toBeDefined();
    const deployment = await deploymentOf(ns);
    expect(valueAt(deployment, ["spec", "template", "metadata", "labels", "team"])).toBe("a");
    expect(valueAt(deployment, ["status", "observedGeneration"])).toBe(valueAt(deployment, ["metadata", "generation"]));
    // The Deployment controller has seen the old ReplicaSet without a replica; a rolling update would go on from here.
    expect(valueAt(deployment, ["status", "replicas"]) ?? 0).toBe(0);
  });
  expect(await replicaSetsOf(ns)).toHaveLength(1);
  expect(pods.seen).toEqual([`ADDED ${old}`]);
  await ns.patch("Pod", old, { metadata: { finalizers: null } });
  await eventually(() => expect(pods.seen).toHaveLength(3));
  await pods.stop();
  expect(pods.seen.slice(0, 2)).toEqual([`ADDED ${old}`, `DELETED ${old}`]);
  expect(pods.seen[2]).toMatch(/^ADDED lakeside-metadata-/);
  await reaches(ns, "Ready");
});

describe("metadata-recreate: a Deployment with a rolling update becomes Recreate, and its pod stays", () => {
  const settings = { images: OPERATOR_DEFAULTS.images, metadataConfigFormat: "xml" } as const;
  const ROLLING = { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };

  /** The objects of metadata as the version before rendered them. */
  function formerObjects(instance: FireboltInstance): readonly Rendered[] {
    return renderInstanceObjects(instance, settings).metadata.map((object) =>
      withRenderedHash(
        object.kind === "Deployment" && object.spec !== undefined
          ? { ...object, spec: { ...object.spec, strategy: ROLLING } }
          : object,
      ),
    );
  }

  const applied = async (objects: readonly Rendered[]): Promise<void> => {
    for (const object of objects)
      await client.apply(KINDS[object.kind] as typeof KINDS.Deployment, object as never, {
        fieldManager: "firebolt-operator",
      });
  };
  const posted =
    (fieldManager: string) =>
    async (objects: readonly Rendered[]): Promise<void> => {
      for (const object of objects)
        await client.create(KINDS[object.kind] as typeof KINDS.Deployment, object as never, { fieldManager });
    };

  test.each([
    ["applied by an earlier version", applied, undefined],
    ["posted by an earlier version", posted("firebolt-operator"), undefined],
    ["written by another operator", posted("manager"), undefined],
    ["applied by an earlier version, and edited manually", applied, { maxSurge: 1, maxUnavailable: 0 }],
  ] as const)("%s", async (_, write, rollingUpdate) => {
    const ns = await cluster.namespace();
    await ns.createInstance({ id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" });
    await write(formerObjects(await ns.instance()));
    if (rollingUpdate !== undefined) await ns.patch("Deployment", METADATA, { spec: { strategy: { rollingUpdate } } });
    await eventually(async () => expect(valueAt(await deploymentOf(ns), ["status", "readyReplicas"])).toBe(1));
    const before = await replicaSetsOf(ns);
    await using _operator = await startOperator();
    await reaches(ns, "Ready");
    expect(valueAt(await deploymentOf(ns), ["spec", "strategy"])).toEqual({ type: "Recreate" });
    expect(await replicaSetsOf(ns)).toEqual(before);
  });
});
