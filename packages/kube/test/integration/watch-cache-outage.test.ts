// The watch cache through outages of the API server itself: killed and restarted, its history compacted away. Each test
// has a control plane of its own.
import { describe, expect, test } from "vitest";
import type { KubeClient } from "../../src/client/client.ts";
import { startTcpProxy } from "../../src/testing/tcp-proxy.ts";
import { CONFIG_MAPS, type ConfigMap } from "../support/cache-fixtures.ts";
import { createNamespace, eventually } from "../support/cluster.ts";
import { startControlPlane } from "../support/control-plane.ts";
import { openClient, type RunningCache, runCache } from "../support/running-cache.ts";

const timings = { backoff: { baseMs: 50, maxMs: 500 } };
const map = (namespace: string, name: string): ConfigMap => ({ metadata: { name, namespace } });

async function change(client: KubeClient, namespace: string, round: string): Promise<void> {
  await client.create(CONFIG_MAPS, map(namespace, `new-${round}`));
  await client.patch(CONFIG_MAPS, { namespace, name: "kept" }, { type: "merge", body: { data: { round } } });
  await client.delete(CONFIG_MAPS, { namespace, name: `old-${round}` });
}

/** The content of a cache and the state derived from its events both equal that of the server. */
async function expectServerState(
  { cache, events }: RunningCache,
  client: KubeClient,
  namespace: string,
): Promise<void> {
  const { items } = await client.listAll(CONFIG_MAPS, { namespace });
  const want = items.map(({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`);
  await eventually(() =>
    expect(cache.list(namespace).map(({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`)).toEqual(want),
  );
  const believed = new Map<string, string>();
  for (const { type, object } of events) {
    const name = object.metadata?.name ?? "";
    expect(believed.has(name), `${type} ${name} is consistent with earlier events`).toBe(type !== "added");
    if (type === "deleted") believed.delete(name);
    else believed.set(name, `${name}@${object.metadata?.resourceVersion}`);
  }
  expect([...believed.values()].sort()).toEqual(want);
}

describe.each([
  { how: "streaming lists", apiServerArgs: [], first: ["watch 200"] },
  { how: "no streaming lists", apiServerArgs: ["--feature-gates=WatchList=false"], first: ["watch 422", "list 200"] },
])("an API server with $how", ({ apiServerArgs, first }) => {
  test("killed and restarted during a watch: every change arrives, deletions too", async () => {
    await using plane = await startControlPlane({ apiServerArgs });
    const { adminKubeconfig: kubeconfig } = plane;
    using other = await openClient(kubeconfig);
    const namespace = await createNamespace("restart", kubeconfig);
    for (const name of ["kept", "old-before", "old-after"]) await other.create(CONFIG_MAPS, map(namespace, name));
    await using running = await runCache({ kubeconfig, namespaces: [namespace], timings });
    const responses = running.requests.map(({ verb, code }) => `${verb} ${code}`);
    expect(responses.slice(0, first.length)).toEqual(first);

    await change(other, namespace, "before");
    await plane.stopApiServer("SIGKILL");
    // It still shows what it had; the last change may not have reached it.
    expect([3, 4]).toContain(running.cache.size);
    await plane.startApiServer();
    await eventually(() => other.get(CONFIG_MAPS, { namespace, name: "kept" }));
    await change(other, namespace, "after");
    await expectServerState(running, other, namespace);
    expect(running.emitted).toContain("deleted old-before");
    expect(running.emitted).toContain("deleted old-after");

    // It continues: own writes and writes of others are visible again.
    await running.client.create(CONFIG_MAPS, map(namespace, "own"));
    expect(running.cache.get({ namespace, name: "own" })).toBeDefined();
    await other.create(CONFIG_MAPS, map(namespace, "others"));
    await eventually(() => expect(running.emitted).toContain("added others"));
    await expectServerState(running, other, namespace);
    // Rejected once, not requested again.
    expect(running.requests.filter(({ code }) => code === "422")).toHaveLength(first.length - 1);
  });
});

test("history compacted while cut off: a real 410, a new list, and no deletion lost", async () => {
  // Without its own watch cache the API server watches etcd directly, so the compaction reaches the watch.
  await using plane = await startControlPlane({ apiServerArgs: ["--watch-cache=false"] });
  const { adminKubeconfig: kubeconfig } = plane;
  using other = await openClient(kubeconfig);
  const namespace = await createNamespace("compact", kubeconfig);
  for (const name of ["kept", "old-away"]) await other.create(CONFIG_MAPS, map(namespace, name));
  await using proxy = await startTcpProxy(plane.url);
  const server = `https://127.0.0.1:${proxy.port}`;
  await using running = await runCache({ kubeconfig, server, namespaces: [namespace], timings });
  await other.create(CONFIG_MAPS, map(namespace, "seen"));
  await eventually(() => expect(running.emitted).toContain("added seen"));

  proxy.refuse(true);
  await change(other, namespace, "away");
  await plane.compactEtcd();
  expect(running.cache.size).toBe(3);
  proxy.refuse(false);
  await eventually(() => expect(running.relists).toEqual(["start", "expired"]));
  await expectServerState(running, other, namespace);
  expect(running.emitted.slice(3).sort()).toEqual(["added new-away", "deleted old-away", "modified kept"]);
  await other.delete(CONFIG_MAPS, { namespace, name: "seen" });
  await eventually(() => expect(running.emitted).toContain("deleted seen"));
});
