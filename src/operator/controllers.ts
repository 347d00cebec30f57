// Adds the controllers and what they share to the manager: one cache per kind, however many controllers read it.
import { type Clock, groupResourceOf, type KubeObject, systemClock } from "@firebolt-operator/kube";
import { createObjectCache, type ObjectCache } from "@firebolt-operator/kube/cache";
import { type Controller, cacheRunnable, controllerRunnable, type Manager } from "@firebolt-operator/kube/controller";
import type { RuntimeMetrics, WatchMetrics } from "@firebolt-operator/kube/metrics";
import { GROUP } from "../api/group.ts";
import type { OperatorDefaults } from "../api/operator-defaults.ts";
import { type CacheSpec, createEngineCaches, type EngineCaches, INDEX } from "../engine/cluster/caches.ts";
import { engineController } from "../engine/controller.ts";
import { engineClassController } from "../engineclass/controller.ts";
import { createInstanceCaches } from "../instance/cluster/instance-caches.ts";
import { instanceController } from "../instance/controller.ts";
import type { ProductMetrics } from "../metrics/product-metrics.ts";
import type { Clients } from "./clients.ts";
import { addGatewaySources } from "./gateway-readers.ts";
import { CONTROLLERS, type ControllerName, type OperatorOptions, type Rendering } from "./options.ts";
import { addQueryProber } from "./query-prober.ts";

export interface ControllerParts {
  readonly clients: Clients;
  readonly metrics: RuntimeMetrics;
  readonly product: ProductMetrics;
  readonly watches: WatchMetrics;
  /** With what the version of the API server adds to the options. */
  readonly rendering: Rendering;
  readonly defaults: OperatorDefaults;
}

export interface AddedControllers {
  /** Undefined when neither engines nor classes are reconciled. */
  readonly engineCaches: EngineCaches | undefined;
  /** Resolves when every cache is synced: the controllers may start. */
  whenSynced(signal: AbortSignal): Promise<void>;
}

type CreateFor = (reader: string) => <T extends KubeObject>(spec: CacheSpec<T>) => ObjectCache<T>;

export function addControllers(manager: Manager, options: OperatorOptions, parts: ControllerParts): AddedControllers {
  const { logger, overrides = {} } = options;
  const clock = overrides.clock ?? systemClock;
  const runs = (name: ControllerName): boolean => (overrides.controllers ?? CONTROLLERS).includes(name);
  const caches: Pick<ObjectCache<KubeObject>, "whenSynced">[] = [];
  const createFor: CreateFor = (reader) => (spec) => {
    const cache = createObjectCache({ ...spec, ...cacheScope(spec, options, parts) });
    // Engines and instances have children of the same kinds, distinguished by label: each has a cache of its own.
    manager.add(cacheRunnable(cache, `cache-${reader}-${groupResourceOf(spec.type)}`));
    caches.push(cache);
    return cache;
  };
  const add = (controller: Controller): void =>
    manager.add(controllerRunnable(controller, { clock, logger, metrics: parts.metrics }));
  const engineCaches = runs("engine") || runs("engineclass") ? createEngineCaches(createFor("engine")) : undefined;
  const assembly = { manager, options, parts, createFor, clock };
  if (engineCaches !== undefined && runs("engine")) add(engineOf(assembly, engineCaches));
  if (runs("instance")) add(instanceOf(assembly, engineCaches));
  if (engineCaches !== undefined && runs("engineclass")) add(engineClassOf(assembly, engineCaches));
  return {
    engineCaches,
    async whenSynced(signal) {
      await Promise.all(caches.map((cache) => cache.whenSynced(signal)));
    },
  };
}

interface Assembly {
  readonly manager: Manager;
  readonly options: OperatorOptions;
  readonly parts: ControllerParts;
  readonly createFor: CreateFor;
  readonly clock: Clock;
}

function engineOf({ manager, options, parts, createFor, clock }: Assembly, caches: EngineCaches): Controller {
  const { logger, bounds, drainSettleMs } = options;
  const { clients, product, rendering, defaults } = parts;
  const { demand, reports } = addGatewaySources(manager, {
    rendering,
    drainSettleMs,
    engines: caches.engines,
    instances: caches.instances,
    createCache: createFor("wake"),
    client: clients.demand,
    metrics: product.demand,
    logger,
  });
  return engineController({
    ...sharedDeps(clients, clock),
    caches,
    defaults,
    bounds,
    prober: addQueryProber(manager, { client: clients.probes, clock: systemClock, logger }),
    drainSettleMs,
    metrics: product.engine,
    ...limitOf(options, "engine"),
    ...(demand === undefined ? {} : { demand }),
    ...(reports === undefined ? {} : { gateways: reports }),
  });
}

function instanceOf(
  { options, parts, createFor, clock }: Assembly,
  engineCaches: EngineCaches | undefined,
): Controller {
  const { clients, product, rendering, defaults } = parts;
  const roles = rendering.gatewayClusterRole === undefined;
  const shared = engineCaches === undefined ? {} : { engines: engineCaches.engines };
  const caches = createInstanceCaches(createFor("instance"), engineCaches?.instances, { roles, ...shared });
  return instanceController({
    ...sharedDeps(clients, clock),
    caches,
    defaults,
    rendering,
    metrics: product.instance,
    ...limitOf(options, "instance"),
  });
}

function engineClassOf({ options, parts, clock }: Assembly, { classes, engines }: EngineCaches): Controller {
  const { clients, product } = parts;
  const caches = { classes, engines, classIndex: INDEX.engineClass };
  return {
    ...engineClassController({ ...sharedDeps(clients, clock), caches, metrics: product.engineClass }),
    ...limitOf(options, "engineclass"),
  };
}

const sharedDeps = ({ reconcile, events }: Clients, clock: Clock) => ({ client: reconcile, clock, events });

function limitOf({ concurrency = {} }: OperatorOptions, name: ControllerName): { readonly concurrency?: number } {
  const limit = concurrency[name];
  return limit === undefined ? {} : { concurrency: limit };
}

function cacheScope<T extends KubeObject>(
  { type }: CacheSpec<T>,
  { logger, namespaces, selector, overrides }: OperatorOptions,
  { clients, watches }: ControllerParts,
) {
  const narrowed = type.group === GROUP && selector !== "";
  return {
    client: clients.work,
    logger,
    namespaces,
    observer: watches(groupResourceOf(type)),
    ...(narrowed ? { labelSelector: selector } : {}),
    ...(overrides?.freezeCaches === undefined ? {} : { freeze: overrides.freezeCaches }),
  };
}
