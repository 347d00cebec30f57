// The status fields that an older CRD prunes, over HTTP: a direct read has them as a cached one does, so that a write
// that met another version is repeated and not discarded.
import { silentLogger } from "@firebolt-operator/kube";
import { createKubeClient } from "@firebolt-operator/kube/client";
import { PrunedStatus } from "@firebolt-operator/kube/reconcile";
import { ManualClock, MemoryCache, respondJson, startLoopback } from "@firebolt-operator/kube/testing";
import { expect, test } from "vitest";
import { Evaluations } from "../auto-stop/evaluations.ts";
import { createEngineCaches } from "./caches.ts";
import { kubeCluster } from "./kube-cluster.ts";

test("an engine that is read directly has what the CRD pruned", async () => {
  const status = { phase: "stable", currentGeneration: 0, activeGeneration: 0 };
  const pruned = { metadata: { namespace: "ns", name: "e", uid: "1", resourceVersion: "2" }, status };
  await using server = await startLoopback((_, response) => respondJson(response, 200, pruned));
  const cluster = kubeCluster({
    client: createKubeClient({ config: server.config(), clock: new ManualClock() }),
    caches: createEngineCaches(({ type }) => new MemoryCache(type)),
    signal: new AbortController().signal,
    prober: { queries: () => ({ type: "idle" }) },
    evaluations: new Evaluations(),
    stored: new Map(),
    pruned: new PrunedStatus(["scrapeFailure"]),
    logger: silentLogger,
  });
  await cluster.writeStatus(pruned, { ...status, scrapeFailure: "cause" });
  expect((await cluster.readEngine({ namespace: "ns", name: "e" }))?.status).toEqual({
    ...status,
    scrapeFailure: "cause",
  });
  const patched = await cluster.patchReplicas(pruned, 1);
  expect(patched).toMatchObject({ type: "patched", engine: { status: { scrapeFailure: "cause" } } });
});
