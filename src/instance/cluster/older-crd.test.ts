// The status fields that an older CRD prunes, over HTTP: a direct read has them as a cached one does, so that a write
// that met another version is repeated and not discarded.
import { silentLogger } from "@firebolt-operator/kube";
import { createKubeClient } from "@firebolt-operator/kube/client";
import { PrunedStatus } from "@firebolt-operator/kube/reconcile";
import { ManualClock, MemoryCache, respondJson, startLoopback } from "@firebolt-operator/kube/testing";
import { expect, test } from "vitest";
import { createInstanceCaches } from "./instance-caches.ts";
import { kubeInstanceCluster } from "./kube-cluster.ts";

test("an instance that is read directly has what the CRD pruned", async () => {
  const status = { phase: "Ready" } as const;
  const spec = { metadata: { engineRegistration: false }, gateway: { metricsPort: 9090 }, metadataNG: false };
  const pruned = { metadata: { namespace: "ns", name: "i", uid: "1", resourceVersion: "2" }, spec, status };
  await using server = await startLoopback((_, response) => respondJson(response, 200, pruned));
  const cluster = kubeInstanceCluster({
    client: createKubeClient({ config: server.config(), clock: new ManualClock() }),
    caches: createInstanceCaches(({ type }) => new MemoryCache(type)),
    signal: new AbortController().signal,
    pruned: new PrunedStatus(["reported"]),
    logger: silentLogger,
  });
  await cluster.writeStatus(pruned, { ...status, reported: { gateway: "h" } });
  const found = await cluster.readInstance({ namespace: "ns", name: "i" });
  expect(found?.status).toEqual({ ...status, reported: { gateway: "h" } });
});
