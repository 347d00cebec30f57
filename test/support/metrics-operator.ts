// All three controllers in this process with every recorder and the metrics server, as the program puts them together: for tests of
// what is on the page.
import { groupResourceOf, type KubeObject, silentLogger as logger, systemClock } from "@firebolt-operator/kube";
import { createObjectCache, type ObjectCache } from "@firebolt-operator/kube/cache";
import { createKubeClient } from "@firebolt-operator/kube/client";
import { type Controller, cacheRunnable, controllerRunnable, createManager } from "@firebolt-operator/kube/controller";
import { createLeaderElector, leaseStore } from "@firebolt-operator/kube/election";
import { createMetricsServer, createRuntimeMetrics, createWatchMetrics } from "@firebolt-operator/kube/metrics";
import { collectDefaultMetrics, Registry } from "prom-client";
import { GROUP } from "../../src/api/group.ts";
import { OPERATOR_DEFAULTS } from "../../src/api/operator-defaults.ts";
import { addQueryProber } from "../../src/cli/query-prober.ts";
import { engineController } from "../../src/engine/controller.ts";
import { type CacheWish, createEngineCaches, INDEX } from "../../src/engine/engine-caches.ts";
import { engineClassController } from "../../src/engineclass/controller.ts";
import { instanceController } from "../../src/instance/controller.ts";
import { createInstanceCaches } from "../../src/instance/instance-caches.ts";
import { createProductMetrics } from "../../src/metrics/product-metrics.ts";
import { parsePage, type Series, scrape } from "./metrics-scrape.ts";
import { clusterConfig } from "./test-client.ts";

export interface MetricsOperator extends AsyncDisposable {
  /** The page as text. */
  page(): Promise<string>;
  /** The samples on it, or those whose labels hold all of these. */
  series(labels?: Readonly<Record<string, string>>): Promise<readonly Series[]>;
}

export interface MetricsOperatorOptions {
  readonly kubeconfig: string;
  readonly namespace: string;
  /** Narrows the three kinds. */
  readonly selector?: string;
}

const ELECTION = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

export async function startMetricsOperator(options: MetricsOperatorOptions): Promise<MetricsOperator> {
  const { kubeconfig, namespace, selector } = options;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const runtime = createRuntimeMetrics(registry);
  const watches = createWatchMetrics(registry);
  const build = { version: "test", revision: "none", nodeVersion: process.version };
  const metrics = createProductMetrics(registry, { clock: systemClock, build });
  const config = await clusterConfig(kubeconfig);
  const client = createKubeClient({ config, onRequest: runtime.request });
  const manager = createManager({ logger, clock: systemClock });
  const server = createMetricsServer({ registry, logger, host: "127.0.0.1", port: 0 });
  manager.add(server);
  manager.add(
    createLeaderElector({
      store: leaseStore(client, { namespace, name: "c662f7f5.firebolt.io" }),
      timing: ELECTION,
      clock: systemClock,
      logger,
      metrics: runtime,
    }),
  );
  const createFor =
    (reader: string) =>
    <T extends KubeObject>(wish: CacheWish<T>): ObjectCache<T> => {
      const narrowed = selector !== undefined && wish.type.group === GROUP ? { labelSelector: selector } : {};
      const kind = groupResourceOf(wish.type);
      const around = { client, logger, namespaces: [namespace], observer: watches(kind) };
      const cache = createObjectCache<T>({ ...around, ...wish, ...narrowed });
      manager.add(cacheRunnable(cache, `cache-${reader}-${kind}`));
      return cache;
    };
  const shared = { client, clock: systemClock, events: { record: () => undefined }, defaults: OPERATOR_DEFAULTS };
  const prober = addQueryProber(manager, { client, clock: systemClock, logger });
  const caches = createEngineCaches(createFor("engine"));
  const instanceCaches = createInstanceCaches(createFor("instance"), caches.instances);
  const classCaches = { ...caches, classIndex: INDEX.engineClass };
  const controllers: readonly Controller[] = [
    engineController({ ...shared, caches, bounds: {}, metrics: metrics.engine, prober, drainSettleMs: 0 }),
    instanceController({ ...shared, caches: instanceCaches, metrics: metrics.instance }),
    engineClassController({ ...shared, caches: classCaches, metrics: metrics.engineClass }),
  ];
  for (const controller of controllers)
    manager.add(controllerRunnable(controller, { clock: systemClock, logger, metrics: runtime }));

  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await Promise.race([server.whenReady?.(stop.signal), running]);
  const page = async () => (await scrape(`http://127.0.0.1:${server.port}/metrics`)).text;
  return {
    page,
    async series(labels = {}) {
      const wanted = Object.entries(labels);
      return parsePage(await page()).filter((series) => wanted.every(([name, value]) => series.labels[name] === value));
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      client.close();
    },
  };
}
