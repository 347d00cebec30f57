// The operator with its engine and class controllers in this process, for tests and benchmarks: assembled as the
// program is, its requests counted. The caller starts and stops it.
import type { Clock, Logger } from "@firebolt-operator/kube";
import type { ClusterConfig, KubeClient, RequestInfo } from "@firebolt-operator/kube/client";
import type { Manager } from "@firebolt-operator/kube/controller";
import type { LeaderElector } from "@firebolt-operator/kube/election";
import { OPERATOR_DEFAULTS, type OperatorDefaults } from "../../../src/api/operator-defaults.ts";
import type { EngineCaches } from "../../../src/engine/cluster/caches.ts";
import { type EnginePassRecord, noEngineMetrics } from "../../../src/engine/metrics-hooks.ts";
import type { ResourceBounds } from "../../../src/engine/model/validate.ts";
import { createOperator } from "../../../src/operator/create-operator.ts";
import type { ClientUse, ElectionOptions, Rendering } from "../../../src/operator/options.ts";
import { watchActivity } from "./activity.ts";
import { TEST_BUILD } from "./test-build.ts";
import { tapWrites, type WriteTap } from "./write-tap.ts";

/** Longer than the recorder tries to write an event. */
const EVENTS_GIVEN_UP_MS = 60_000;

/** The agent's image is never rendered: instances are not reconciled here. */
const DEMAND: Rendering = {
  metadataConfigFormat: "xml",
  wakeMode: "demand",
  wakeAgent: { image: "none", pullPolicy: "" },
};

export interface EngineOperatorOptions {
  readonly config: ClusterConfig;
  /** None: all. */
  readonly namespaces: readonly string[];
  readonly logger: Logger;
  readonly defaults?: OperatorDefaults;
  readonly bounds?: ResourceBounds;
  readonly tap?: WriteTap;
  readonly election?: ElectionOptions;
  /** False: a process that lost its lease keeps writing, and only preconditions protect the objects. */
  readonly fenced?: boolean;
  /** Changes what the controllers read, to show what a failing read does. */
  readonly reads?: (client: KubeClient) => KubeClient;
  readonly onPass?: (record: EnginePassRecord) => void;
  /** Receives what the controllers read, for tests that have to know what an operator has observed. */
  readonly showCaches?: (caches: EngineCaches) => void;
  /** Of the controllers alone, so that every delay on it belongs to one of their queues. */
  readonly clock?: Clock;
  /** Scrapes gateways for demand. */
  readonly demand?: boolean;
  readonly onDemandFailed?: (namespace: string) => void;
  /** Default 0: a rollout then takes as long as its queries. */
  readonly drainSettleMs?: number;
}

export interface BuiltEngineOperator {
  readonly manager: Manager;
  readonly elector: LeaderElector | undefined;
  /** All requests so far, events included; watches and scrapes of gateways aside. */
  readonly requests: RequestInfo[];
  /** Resolves when the controllers may start. */
  readonly synced: (signal: AbortSignal) => Promise<void>;
  /** Waits until recorded events are written. True when no other request or reconcile is in progress, watches aside. */
  readonly isIdle: () => Promise<boolean>;
  close(): void;
}

export async function buildEngineOperator(options: EngineOperatorOptions): Promise<BuiltEngineOperator> {
  const { config, namespaces, logger, defaults = OPERATOR_DEFAULTS, bounds = {}, drainSettleMs = 0 } = options;
  const { clock, election, fenced = true, reads = (client: KubeClient) => client } = options;
  const requests: RequestInfo[] = [];
  const activity = watchActivity();
  const wrapClient = (client: KubeClient, use: ClientUse): KubeClient => {
    if (use === "work") return activity.counted(client);
    if (use === "reconcile") return reads(tapWrites(client, options.tap ?? {}));
    if (use === "query-probes") return reads(activity.counted(client));
    return use === "wake-demand" ? reads(client) : client;
  };
  const operator = await createOperator(
    {
      config,
      logger,
      build: TEST_BUILD,
      namespaces,
      selector: "",
      defaults,
      bounds,
      drainSettleMs,
      rendering: options.demand === true ? DEMAND : { metadataConfigFormat: "xml" },
      ...(election === undefined ? {} : { election }),
      overrides: {
        controllers: ["engine", "engineclass"],
        wrapClient,
        onRequest: (info, use) => {
          if (info.verb !== "watch" && (use === "work" || use === "query-probes")) requests.push(info);
        },
        runtimeMetrics: activity.metrics,
        productMetrics: {
          engine: { ...noEngineMetrics, passEnded: (record) => options.onPass?.(record) },
          demand: { scrapeFailed: (namespace) => options.onDemandFailed?.(namespace) },
        },
        freezeCaches: true,
        ...(clock === undefined ? {} : { clock }),
        ...(fenced ? {} : { guardWrite: () => undefined }),
      },
    },
    new AbortController().signal,
  );
  const { manager, elector, recorder, engineCaches } = operator;
  if (engineCaches !== undefined) options.showCaches?.(engineCaches);
  return {
    manager,
    elector,
    requests,
    synced: (signal) => operator.whenSynced(signal),
    isIdle: async () => {
      await recorder?.flush(EVENTS_GIVEN_UP_MS);
      return activity.isIdle();
    },
    close: () => operator.close(),
  };
}
