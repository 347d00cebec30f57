// The watch cache over a bad network: slow, cut, and silent connections, made by a proxy between it and a real API
// server.
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { KubeClient } from "../../src/client/client.ts";
import { loadKubeconfig } from "../../src/config/kubeconfig.ts";
import { startTcpProxy, type TcpProxy } from "../../src/testing/tcp-proxy.ts";
import { CONFIG_MAPS, type ConfigMap } from "../support/cache-fixtures.ts";
import { createNamespace, eventually } from "../support/cluster.ts";
import { openClient, runCache } from "../support/running-cache.ts";

const kubeconfig = inject("adminKubeconfig");
let other: KubeClient & Disposable;

beforeAll(async () => {
  other = await openClient(kubeconfig);
});
afterAll(() => other[Symbol.dispose]());

async function proxied(): Promise<{ readonly proxy: TcpProxy; readonly server: string }> {
  const { server } = await loadKubeconfig({ path: kubeconfig, env: {}, homeDir: "/nonexistent" });
  const proxy = await startTcpProxy(server);
  return { proxy, server: `https://127.0.0.1:${proxy.port}` };
}

const map = (namespace: string, name: string, bytes = 10): ConfigMap => ({
  metadata: { name, namespace },
  data: { key: "x".repeat(bytes) },
});
const fast = { backoff: { baseMs: 20, maxMs: 200 } };

describe("a connection", () => {
  test("that is slow delivers everything", async () => {
    const namespace = await createNamespace("slow");
    await Promise.all(Array.from({ length: 20 }, (_, i) => other.create(CONFIG_MAPS, map(namespace, `m${i}`, 4_000))));
    const { proxy, server } = await proxied();
    await using _proxy = proxy;
    proxy.throttle(60_000);
    const startedMs = performance.now();
    await using running = await runCache({ kubeconfig, server, namespaces: [namespace] });
    // 80 kB at 60 kB/s: if this was fast, the throttle did not work and the test proves nothing.
    expect(performance.now() - startedMs).toBeGreaterThan(1_000);
    expect(running.cache.size).toBe(20);
    expect(running.errors).toEqual([]);
    await other.delete(CONFIG_MAPS, { namespace, name: "m3" });
    await eventually(() => expect(running.emitted).toContain("deleted m3"));
  });

  test("that is cut resumes from its version, without another list", async () => {
    const namespace = await createNamespace("cut");
    for (const name of ["stays", "goes"]) await other.create(CONFIG_MAPS, map(namespace, name));
    const { proxy, server } = await proxied();
    await using _proxy = proxy;
    await using running = await runCache({ kubeconfig, server, namespaces: [namespace], timings: fast });

    proxy.refuse(true);
    await other.delete(CONFIG_MAPS, { namespace, name: "goes" });
    await other.create(CONFIG_MAPS, map(namespace, "comes"));
    await eventually(() => expect(running.errors.length).toBeGreaterThan(0));
    expect(running.cache.size).toBe(2);
    proxy.refuse(false);
    await eventually(() => expect(running.emitted.slice(2)).toEqual(["deleted goes", "added comes"]));
    expect(running.relists).toEqual(["start"]);
  });

  test("cut inside the first list shows nothing of it, and the list is retried", async () => {
    const namespace = await createNamespace("half-list");
    await Promise.all(Array.from({ length: 20 }, (_, i) => other.create(CONFIG_MAPS, map(namespace, `m${i}`, 4_000))));
    const { proxy, server } = await proxied();
    await using _proxy = proxy;
    // It must not be over before somebody has looked.
    proxy.throttle(8_000);
    await using running = await runCache({
      kubeconfig,
      server,
      namespaces: [namespace],
      timings: fast,
      unsynced: true,
    });
    await eventually(() => expect(running.requests).toHaveLength(1));
    expect([running.cache.synced, running.cache.size]).toEqual([false, 0]);
    proxy.throttle(Number.POSITIVE_INFINITY);
    proxy.cut();
    await running.cache.whenSynced(AbortSignal.timeout(90_000));
    expect(running.cache.size).toBe(20);
    expect(running.emitted).toHaveLength(20);
  });

  test("that is half open is closed after the idle timeout and resumed", async () => {
    const namespace = await createNamespace("deaf");
    await other.create(CONFIG_MAPS, map(namespace, "goes"));
    const { proxy, server } = await proxied();
    await using _proxy = proxy;
    const timings = { ...fast, idleTimeoutMs: 700 };
    await using running = await runCache({ kubeconfig, server, namespaces: [namespace], timings });
    proxy.blackhole(true);
    const opened = proxy.accepted;
    await other.delete(CONFIG_MAPS, { namespace, name: "goes" });
    // Nothing is refused or reset: only the silence reveals the failure, for every further attempt as well.
    await eventually(() => expect(proxy.accepted).toBeGreaterThan(opened + 1));
    expect(running.cache.size).toBe(1);
    proxy.blackhole(false);
    await eventually(() => expect(running.emitted).toEqual(["added goes", "deleted goes"]));
  });
});

test("a watch accepted by a silent peer is reopened long before the idle timeout", async () => {
  const namespace = await createNamespace("silent-peer");
  await other.create(CONFIG_MAPS, map(namespace, "goes"));
  const { proxy, server } = await proxied();
  await using _proxy = proxy;
  const timings = { ...fast, openTimeoutMs: 2_000 };
  await using running = await runCache({ kubeconfig, server, namespaces: [namespace], timings });
  // The watch is reopened on a connection that is accepted and then stays silent; later ones work.
  proxy.blackhole(true);
  const opened = proxy.accepted;
  proxy.cut();
  await eventually(() => expect(proxy.accepted).toBeGreaterThan(opened));
  await other.delete(CONFIG_MAPS, { namespace, name: "goes" });
  proxy.stall();
  proxy.blackhole(false);
  await eventually(() => expect(running.emitted).toEqual(["added goes", "deleted goes"]));
  expect(running.relists).toEqual(["start"]);
});

test("random cuts while others write: no event is lost or repeated", async () => {
  const namespace = await createNamespace("cuts");
  const { proxy, server } = await proxied();
  await using _proxy = proxy;
  await using running = await runCache({ kubeconfig, server, namespaces: [namespace], timings: fast });
  for (let round = 0; round < 60; round += 1) {
    const name = `m${round % 7}`;
    await other.apply(CONFIG_MAPS, { ...map(namespace, name), data: { round: `${round}` } }, { fieldManager: "cuts" });
    if (round % 3 === 2) await other.delete(CONFIG_MAPS, { namespace, name });
    if (round % 5 === 4) proxy.cut();
  }
  const { items } = await other.listAll(CONFIG_MAPS, { namespace });
  const versions = (
    objects: readonly { readonly metadata?: { readonly name?: string; readonly resourceVersion?: string } }[],
  ) => objects.map(({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`);
  await eventually(() => expect(versions(running.cache.list())).toEqual(versions(items)));
  const known = new Set<string>();
  for (const emitted of running.emitted) {
    const [type = "", name = ""] = emitted.split(" ");
    expect(known.has(name), `${emitted} is consistent with earlier events`).toBe(type !== "added");
    if (type === "deleted") known.delete(name);
    else known.add(name);
  }
});
