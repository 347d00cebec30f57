// The manager on a real API server: readiness, a controller that follows its objects, and shutdown in the middle of
// work.
import { homedir } from "node:os";
import { Registry } from "prom-client";
import { expect, inject, test } from "vitest";
import { createObjectCache } from "../../src/cache/cache.ts";
import { createKubeClient } from "../../src/client/kube-client.ts";
import { loadKubeconfig } from "../../src/config/kubeconfig.ts";
import { watch } from "../../src/controller/controller.ts";
import { createManager } from "../../src/controller/manager.ts";
import { controllerRunnable } from "../../src/controller/run-controller.ts";
import { cacheRunnable } from "../../src/controller/runnable.ts";
import { systemClock } from "../../src/core/clock.ts";
import { silentLogger } from "../../src/core/logger.ts";
import { keyOf } from "../../src/core/object.ts";
import { holderOf, leaseResource } from "../../src/election/lease.ts";
import { ConfigMap } from "../../src/kinds/index.ts";
import { createRuntimeMetrics } from "../../src/metrics/runtime.ts";
import { createMetricsServer } from "../../src/metrics/server.ts";
import { createProbes } from "../../src/serving/probes.ts";
import { createNamespace, eventually } from "../support/cluster.ts";
import { machineMs, startManager } from "../support/start-manager.ts";

const openClient = async (onRequest?: Parameters<typeof createKubeClient>[0]["onRequest"]) => {
  const config = await loadKubeconfig({ path: inject("adminKubeconfig"), env: {}, homeDir: homedir() });
  return createKubeClient({ config, ...(onRequest === undefined ? {} : { onRequest }) });
};

test("a controller reconciles every object, as probes and metrics show", async () => {
  const namespace = await createNamespace("manager");
  const registry = new Registry();
  const metrics = createRuntimeMetrics(registry);
  const client = await openClient((info) => metrics.request(info));
  const cache = createObjectCache({
    client,
    type: ConfigMap,
    logger: silentLogger,
    namespaces: [namespace],
    labelSelector: "copy",
  });
  let conflicts = 0;
  const controller = controllerRunnable(
    {
      name: "copier",
      concurrency: 4,
      watches: [watch(cache, ({ object }) => [keyOf(object)])],
      /** Copies data.from to data.to, with a conflict provoked in the first five passes. */
      async reconcile(key, signal) {
        const object = cache.get(key);
        if (object === undefined || object.data?.["to"] === object.data?.["from"]) return "onChange";
        const stale = conflicts < 5 ? "1" : (object.metadata?.resourceVersion ?? "");
        conflicts += 1;
        const body = { metadata: { resourceVersion: stale }, data: { to: object.data?.["from"] } };
        await client.patch(ConfigMap, key, { type: "merge", body }, { signal });
        return "onChange";
      },
    },
    { clock: systemClock, logger: silentLogger, metrics },
  );
  const probes = createProbes({ clock: systemClock, logger: silentLogger, host: "127.0.0.1", port: 0 });
  const server = createMetricsServer({ registry, logger: silentLogger, host: "127.0.0.1", port: 0 });
  const manager = createManager({ logger: silentLogger, clock: systemClock, probes });
  for (const part of [controller, server, cacheRunnable(cache)]) manager.add(part);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const names = Array.from({ length: 20 }, (_, index) => `object-${index}`);
  for (const name of names)
    await client.create(ConfigMap, { metadata: { namespace, name, labels: { copy: "yes" } }, data: { from: name } });
  await eventually(async () => {
    const { items } = await client.list(ConfigMap, { namespace, labelSelector: "copy" });
    return items.length === 20 && items.every(({ data }) => data?.["to"] === data?.["from"]);
  });
  expect(cache.size).toBe(20);

  const ready = await fetch(`http://127.0.0.1:${probes.port}/readyz?verbose=1`);
  expect(await ready.text()).toBe("[+]shutdown ok\n[+]metrics ok\n[+]cache-configmaps ok\nreadyz check passed\n");
  const healthy = await fetch(`http://127.0.0.1:${probes.port}/healthz?verbose=1`);
  expect(await healthy.text()).toContain("[+]controller-copier ok");
  const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
  expect(text).toMatch(/controller_runtime_reconcile_total\{controller="copier",result="success"\} [1-9]/);
  expect(text).toMatch(/controller_runtime_reconcile_total\{controller="copier",result="requeue"\} 5/);
  expect(text).toContain('controller_runtime_reconcile_errors_total{controller="copier"} 0');
  expect(text).toMatch(/rest_client_requests_total\{code="409",method="PATCH",host="127\.0\.0\.1:\d+"\} 5/);
  expect(text).toMatch(/rest_client_requests_total\{code="201",method="POST",host="127\.0\.0\.1:\d+"\} 20/);
  stop.abort();
  await running;
  client.close();
});

test("a kind that does not exist never becomes ready, and the start fails with an error that names it", async () => {
  const client = await openClient();
  const type = { group: "nowhere.example.com", version: "v1", kind: "Nothing", plural: "nothings", namespaced: true };
  const manager = createManager({ logger: silentLogger, clock: systemClock, startTimeoutMs: 1_500 });
  manager.add(cacheRunnable(createObjectCache({ client, type, logger: silentLogger })));
  await expect(manager.run(new AbortController().signal)).rejects.toThrow("cache-nothings.nowhere.example.com");
  client.close();
});

async function startHolding(work: "hold" | "stubborn", shutdownTimeoutMs: number) {
  const client = await openClient();
  const namespace = await createNamespace("shutdown");
  for (const name of ["seed-1", "seed-2", "seed-3"])
    await client.create(ConfigMap, { metadata: { name, namespace, labels: { role: "seed" } } });
  const kubeconfig = inject("adminKubeconfig");
  const process = startManager({ kubeconfig, namespace, identity: "a", work, shutdownTimeoutMs });
  await process.said("pass-started");
  const holder = async () => holderOf(await client.get(leaseResource, { namespace, name: "the-lease" }));
  return { client, process, holder };
}

test("a stop during work: the pass receives its signal, no further key is handed out, the lease is released", async () => {
  const { client, process, holder } = await startHolding("hold", 60_000);
  await using _ = process;
  process.signal("SIGTERM");
  const askedMs = machineMs();
  expect(await process.exit).toBe(0);
  const ended = await process.said("ended");
  // Long before the time that it has.
  expect(ended.atMs - askedMs).toBeLessThan(30_000);
  // One worker and three keys: two of them were waiting, and still are.
  const passes = process.lines.map(({ event }) => event).filter((event) => event.startsWith("pass-"));
  expect(passes).toEqual(["pass-started", "pass-aborted"]);
  expect(await holder()).toBeUndefined();
  client.close();
});

test("work that ignores its signal is abandoned at the deadline with code 1, and its lease expires", async () => {
  const { client, process, holder } = await startHolding("stubborn", 1_500);
  await using _ = process;
  const askedMs = machineMs();
  process.signal("SIGTERM");
  expect(await process.exit).toBe(1);
  const ended = await process.said("ended");
  expect(ended.atMs - askedMs).toBeGreaterThan(1_400);
  expect((await process.said("failed"))["error"]).toContain("controller-process");
  expect(await holder()).toBe("a");
  client.close();
});

test("a second signal ends a stuck shutdown at once", async () => {
  const { client, process } = await startHolding("stubborn", 60_000);
  await using _ = process;
  process.signal("SIGTERM");
  await eventually(() => process.lines.some((line) => line["message"] === "shutting down"));
  process.signal("SIGTERM");
  expect(await process.exit).toBe(130);
  client.close();
});
