// Runs a cache in a test: with its own client whose requests are counted, and a record of its events.
import { type CacheEvent, type CacheOptions, createObjectCache, type ObjectCache } from "../../src/cache/cache.ts";
import type { RelistReason } from "../../src/cache/reflector/states.ts";
import type { RequestInfo } from "../../src/client/calls.ts";
import type { KubeClient } from "../../src/client/client.ts";
import { createKubeClient } from "../../src/client/kube-client.ts";
import { loadKubeconfig } from "../../src/config/kubeconfig.ts";
import { type Logger, silentLogger } from "../../src/core/logger.ts";
import { CONFIG_MAPS, type ConfigMap } from "./cache-fixtures.ts";

export interface RunningCache extends AsyncDisposable {
  readonly cache: ObjectCache<ConfigMap>;
  /** The cache's own client: its writes are merged at once. */
  readonly client: KubeClient;
  readonly requests: readonly RequestInfo[];
  /** `type name` of every event so far, in order. */
  readonly emitted: readonly string[];
  readonly events: readonly CacheEvent<ConfigMap>[];
  readonly relists: readonly RelistReason[];
  /** Logged errors. */
  readonly errors: readonly unknown[];
  stop(): Promise<void>;
}

export interface RunningCacheOptions extends Partial<Omit<CacheOptions<ConfigMap>, "client" | "type" | "observer">> {
  readonly kubeconfig: string;
  /** Another address of the same server, e.g. of a proxy. */
  readonly server?: string;
  /** Resolves before the first list is complete. */
  readonly unsynced?: boolean;
}

/** A separate client, e.g. to change objects without the cache's knowledge. */
export async function openClient(
  kubeconfig: string,
  options: { readonly server?: string | undefined; readonly onRequest?: (info: RequestInfo) => void } = {},
): Promise<KubeClient & Disposable> {
  const config = await loadKubeconfig({ path: kubeconfig, env: {}, homeDir: "/nonexistent" });
  const client = createKubeClient({
    config: { ...config, server: options.server ?? config.server },
    ...(options.onRequest === undefined ? {} : { onRequest: options.onRequest }),
  });
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}

export async function runCache(options: RunningCacheOptions): Promise<RunningCache> {
  const { kubeconfig, server, unsynced, ...rest } = options;
  const requests: RequestInfo[] = [];
  const events: CacheEvent<ConfigMap>[] = [];
  const relists: RelistReason[] = [];
  const errors: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (_, error) => errors.push(error), with: () => logger };
  const client = await openClient(kubeconfig, { server, onRequest: (info) => requests.push(info) });
  const cache = createObjectCache<ConfigMap>({
    logger,
    freeze: true,
    ...rest,
    client,
    type: CONFIG_MAPS,
    observer: { relisted: (reason) => relists.push(reason) },
  });
  cache.onEvent((event) => events.push(event));
  const stopping = new AbortController();
  const running = cache.run(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running;
    client.close();
  };
  if (unsynced !== true) await cache.whenSynced(AbortSignal.timeout(120_000));
  return {
    cache,
    client,
    requests,
    events,
    relists,
    errors,
    get emitted() {
      return events.map(({ type, object }) => `${type} ${object.metadata?.name}`);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
