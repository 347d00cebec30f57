// Which controllers run and what they share: one cache per kind, however many controllers read it.
import { groupResourceOf, type KubeObject, type Logger, systemClock } from "@firebolt-operator/kube";
import { createObjectCache, type ObjectCache } from "@firebolt-operator/kube/cache";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { type Controller, cacheRunnable, controllerRunnable, type Manager } from "@firebolt-operator/kube/controller";
import type { EventSink } from "@firebolt-operator/kube/events";
import type { RuntimeMetrics, WatchMetrics } from "@firebolt-operator/kube/metrics";
import { GROUP } from "../api/group.ts";
import type { OperatorDefaults } from "../api/operator-defaults.ts";
import { engineController } from "../engine/controller.ts";
import { type CacheWish, createEngineCaches, INDEX } from "../engine/engine-caches.ts";
import type { ResourceBounds } from "../engine/validate.ts";
import { engineClassController } from "../engineclass/controller.ts";
import { instanceController } from "../instance/controller.ts";
import { createInstanceCaches } from "../instance/instance-caches.ts";
import type { ProductMetrics } from "../metrics/product-metrics.ts";
import type { Rendering } from "./instance-flags.ts";
import type { Concurrency } from "./manager-flags.ts";
import { addQueryProber } from "./query-prober.ts";
import { addDemandPoll } from "./wake-demand.ts";

export interface ControllersOptions {
  readonly manager: Manager;
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly metrics: RuntimeMetrics;
  readonly product: ProductMetrics;
  readonly watches: WatchMetrics;
  readonly events: EventSink;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  /** Narrows the three Firebolt kinds, never their children. Empty: all. */
  readonly selector: string;
  readonly defaults: OperatorDefaults;
  readonly rendering: Rendering;
  /** For asking gateways, which may hang: nothing else waits behind them. */
  readonly demandClient: KubeClient;
  /** For probing pods, which may hang too. */
  readonly probeClient: KubeClient;
  /** How long after a switch a drain probe counts. */
  readonly drainSettleMs: number;
  readonly bounds: ResourceBounds;
  readonly concurrency: Concurrency;
}

export function addControllers(options: ControllersOptions): void {
  const { manager, client, logger, metrics, product, watches, events, defaults, bounds, concurrency } = options;
  const { rendering } = options;
  const createFor =
    (reader: string) =>
    <T extends KubeObject>(wish: CacheWish<T>): ObjectCache<T> => {
      const observer = watches(groupResourceOf(wish.type));
      const cache = createObjectCache<T>({ ...wish, ...scopeOf(wish, options), observer });
      // Engines and instances have children of the same kinds, told apart by label: each has a cache of its own.
      manager.add(cacheRunnable(cache, `cache-${reader}-${groupResourceOf(wish.type)}`));
      return cache;
    };
  const caches = createEngineCaches(createFor("engine"));
  const shared = { client, clock: systemClock, events };
  const add = (controller: Controller): void =>
    manager.add(controllerRunnable(controller, { clock: systemClock, logger, metrics }));
  const { classes, engines, instances } = caches;
  const demand = addDemandPoll(manager, {
    rendering,
    engines,
    instances,
    createCache: createFor("wake"),
    client: options.demandClient,
    metrics: product.demand,
    logger,
  });
  const prober = addQueryProber(manager, { client: options.probeClient, clock: systemClock, logger });
  add(
    engineController({
      ...shared,
      caches,
      defaults,
      bounds,
      prober,
      drainSettleMs: options.drainSettleMs,
      metrics: product.engine,
      concurrency: concurrency.engine,
      ...(demand === undefined ? {} : { demand }),
    }),
  );
  const roles = rendering.gatewayClusterRole === undefined;
  const instanceCaches = createInstanceCaches(createFor("instance"), instances, { roles, engines });
  add(
    instanceController({
      ...shared,
      caches: instanceCaches,
      defaults,
      rendering,
      metrics: product.instance,
      concurrency: concurrency.instance,
    }),
  );
  add({
    ...engineClassController({
      ...shared,
      caches: { classes, engines, classIndex: INDEX.engineClass },
      metrics: product.engineClass,
    }),
    concurrency: concurrency.engineclass,
  });
}

function scopeOf<T extends KubeObject>(
  wish: CacheWish<T>,
  { client, logger, namespaces, selector }: ControllersOptions,
) {
  const narrowed = wish.type.group === GROUP && selector !== "";
  return { client, logger, namespaces, ...(narrowed ? { labelSelector: selector } : {}) };
}
