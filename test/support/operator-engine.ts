// The engine and class controllers with everything the program puts around them: client, caches, events, manager and, when a
// test wants one, an elector. In this process; the caller decides when it starts and how it ends. Counts what it asks.
import { type Clock, type KubeObject, type Logger, systemClock } from "@firebolt-operator/kube";
import { createObjectCache, type ObjectCache } from "@firebolt-operator/kube/cache";
import {
  type ClusterConfig,
  createKubeClient,
  type KubeClient,
  type RequestInfo,
} from "@firebolt-operator/kube/client";
import {
  cacheRunnable,
  controllerRunnable,
  createManager,
  type Manager,
  type Runnable,
} from "@firebolt-operator/kube/controller";
import type { LeaderElector } from "@firebolt-operator/kube/election";
import { createEventRecorder, eventWriter } from "@firebolt-operator/kube/events";
import { OPERATOR_DEFAULTS, type OperatorDefaults } from "../../src/api/operator-defaults.ts";
import { plainText } from "../../src/api/plain-text.ts";
import { addQueryProber } from "../../src/cli/query-prober.ts";
import { createDemandClient } from "../../src/cli/wake-demand.ts";
import { DemandPoll } from "../../src/engine/auto-stop/demand-poll.ts";
import { demandReader, GATEWAY_PODS } from "../../src/engine/auto-stop/gateway-pods.ts";
import { engineController } from "../../src/engine/controller.ts";
import {
  type CacheWish,
  type CreateCache,
  createEngineCaches,
  type EngineCaches,
  INDEX,
} from "../../src/engine/engine-caches.ts";
import { type EngineMetrics, type EnginePassRecord, noEngineMetrics } from "../../src/engine/metrics-hooks.ts";
import type { ResourceBounds } from "../../src/engine/validate.ts";
import { engineClassController } from "../../src/engineclass/controller.ts";
import { GATEWAY_PORTS } from "../../src/gateway/ports.ts";
import { WAKE_AGENT_CONTAINER } from "../../src/gateway/wake-container.ts";
import { watchActivity } from "./operator-activity.ts";
import { tapWrites, type WriteTap } from "./operator-writes.ts";

/** Longer than the recorder tries to write an event. */
const EVENTS_GIVEN_UP_MS = 60_000;

export interface EngineOperatorOptions {
  readonly config: ClusterConfig;
  /** None: all. */
  readonly namespaces: readonly string[];
  readonly logger: Logger;
  readonly defaults?: OperatorDefaults;
  readonly bounds?: ResourceBounds;
  readonly tap?: WriteTap;
  readonly elector?: LeaderElector;
  /** Without it a process that lost its lease writes on: only preconditions protect the objects then. */
  readonly fenced?: boolean;
  /** Changes what the controllers read, to show what a failing read does. */
  readonly reads?: (client: KubeClient) => KubeClient;
  readonly onPass?: (record: EnginePassRecord) => void;
  /** Shown what the controllers read, for tests that have to know what an operator has seen so far. */
  readonly showCaches?: (caches: EngineCaches) => void;
  /** The controllers' alone, so that every delay asked of it is one of their queues'. */
  readonly clock?: Clock;
  /** Asks gateways for demand. */
  readonly demand?: boolean;
  readonly onDemandFailed?: (namespace: string) => void;
  /** Zero unless a test is about it: a rollout then takes as long as its queries. */
  readonly drainSettleMs?: number;
}

export interface BuiltEngineOperator {
  readonly manager: Manager;
  /** Everything asked of the API server so far; watches aside, events included. */
  readonly requests: RequestInfo[];
  /** Resolves when the controllers may start. */
  readonly synced: (signal: AbortSignal) => Promise<void>;
  /** Lets recorded events be written first. True when nothing else is under way either, watches aside. */
  readonly isIdle: () => Promise<boolean>;
  close(): void;
}

export function buildEngineOperator(options: EngineOperatorOptions): BuiltEngineOperator {
  const { config, namespaces, logger, defaults = OPERATOR_DEFAULTS, bounds = {}, elector, fenced = true } = options;
  const clock = options.clock ?? systemClock;
  const requests: RequestInfo[] = [];
  const activity = watchActivity();
  const plain = createKubeClient({
    config,
    logger,
    userAgent: "firebolt-operator/test",
    onRequest: (info) => {
      if (info.verb !== "watch") requests.push(info);
    },
    ...(elector === undefined || !fenced ? {} : { guardWrite: () => elector.assertLeading() }),
  });
  const direct = activity.counted(plain);
  const tapped = tapWrites(direct, options.tap ?? {});
  const client = options.reads?.(tapped) ?? tapped;
  const caches: { readonly runnable: Runnable; readonly synced: (signal: AbortSignal) => Promise<void> }[] = [];
  const create = <T extends KubeObject>(wish: CacheWish<T>): ObjectCache<T> => {
    const cache = createObjectCache<T>({ client: direct, logger, namespaces, freeze: true, ...wish });
    caches.push({
      runnable: cacheRunnable(cache, `cache-${caches.length}`),
      synced: (signal) => cache.whenSynced(signal),
    });
    return cache;
  };
  const engineCaches = createEngineCaches(create);
  options.showCaches?.(engineCaches);
  const recorder = createEventRecorder({
    writer: eventWriter(direct),
    clock: systemClock,
    logger,
    reportingController: "firebolt.io/engine",
    reportingInstance: "test",
    plain: plainText,
  });
  // A client of its own, as in the program: what is known to pass here must not depend on another one's connections.
  const asking = createDemandClient({ config, logger, userAgent: "firebolt-operator/test (wake-demand)" });
  const poll =
    options.demand === true
      ? buildPoll(options, { client: options.reads?.(asking) ?? asking, logger, engineCaches, create })
      : undefined;
  const demand = poll === undefined ? {} : { demand: poll };
  const metrics: EngineMetrics = { ...noEngineMetrics, passEnded: (record) => options.onPass?.(record) };
  const shared = { client, clock, events: recorder };
  const { drainSettleMs = 0 } = options;
  const manager = createManager({ logger, clock: systemClock });
  const prober = addQueryProber(manager, { client, clock: systemClock, logger });
  const controllers = [
    engineController({ ...shared, caches: engineCaches, defaults, bounds, metrics, prober, drainSettleMs, ...demand }),
    engineClassController({ ...shared, caches: { ...engineCaches, classIndex: INDEX.engineClass } }),
  ];
  for (const { runnable } of caches) manager.add(runnable);
  if (poll !== undefined) manager.add(poll);
  if (elector !== undefined) manager.add(elector);
  manager.add(recorder);
  for (const controller of controllers)
    manager.add(controllerRunnable(controller, { clock, logger, metrics: activity.metrics }));
  return {
    manager,
    requests,
    synced: async (signal) => {
      await Promise.all(caches.map((cache) => cache.synced(signal)));
    },
    isIdle: async () => {
      await recorder.flush(EVENTS_GIVEN_UP_MS);
      return activity.isIdle();
    },
    close: () => {
      asking.close();
      direct.close();
    },
  };
}

interface PollParts {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly engineCaches: EngineCaches;
  readonly create: CreateCache;
}

function buildPoll(options: EngineOperatorOptions, { client, logger, engineCaches, create }: PollParts): DemandPoll {
  const agent = { container: WAKE_AGENT_CONTAINER, port: GATEWAY_PORTS.wakeDemand };
  return new DemandPoll({
    ...engineCaches,
    gateways: create(GATEWAY_PODS),
    agent,
    read: demandReader(client, agent),
    clock: systemClock,
    logger,
    onScrapeFailed: (namespace) => options.onDemandFailed?.(namespace),
  });
}
