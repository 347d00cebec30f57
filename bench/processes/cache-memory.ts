// The measured process of the cache-memory benchmark: only the runtime, one client and one cache. Prints one line of
// JSON. Run with --expose-gc and the kubeconfig, the namespace and the number of objects as arguments.
import { setTimeout as sleep } from "node:timers/promises";
import { defineResource, type KubeObject, silentLogger } from "@firebolt-operator/kube";
import { createObjectCache } from "@firebolt-operator/kube/cache";
import { createKubeClient, loadKubeconfig } from "@firebolt-operator/kube/client";

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

const CONFIG_MAPS = defineResource<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});
const SYNC_TIMEOUT_MS = 120_000;

/** Memory in use after garbage collection. `external` includes array buffers. */
async function measure(): Promise<{ readonly heapBytes: number; readonly rssBytes: number }> {
  if (globalThis.gc === undefined) throw new Error("run with --expose-gc");
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc();
    await sleep(50);
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed + external, rssBytes: rss };
}

async function main([path, namespace = "", objects]: readonly string[]): Promise<void> {
  const config = await loadKubeconfig({ path, env: {}, homeDir: "/nonexistent" });
  const client = createKubeClient({ config });
  await client.request({ method: "GET", path: "/version" });
  const before = await measure();

  const cache = createObjectCache<ConfigMap>({
    client,
    type: CONFIG_MAPS,
    logger: silentLogger,
    namespaces: [namespace],
  });
  const stopping = new AbortController();
  const startedMs = performance.now();
  const running = cache.run(stopping.signal);
  await cache.whenSynced(AbortSignal.timeout(SYNC_TIMEOUT_MS));
  const syncMs = Math.round(performance.now() - startedMs);
  if (cache.size !== Number(objects)) throw new Error(`expected ${objects} objects, the cache holds ${cache.size}`);
  const after = await measure();

  // After the measurement: counting allocates memory.
  const jsonBytes = cache.list().reduce((sum, object) => sum + Buffer.byteLength(JSON.stringify(object)), 0);
  process.stdout.write(`${JSON.stringify({ objects: cache.size, syncMs, jsonBytes, before, after })}\n`);
  stopping.abort();
  await running;
  client.close();
}

await main(process.argv.slice(2));
