// The engine controller as a value: what it watches, which engines an event concerns, and the pass. Wiring only.
import { type Clock, formatKey } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { type Controller, type WatchSource, watch } from "@firebolt-operator/kube/controller";
import type { EventSink } from "@firebolt-operator/kube/events";
import { PrunedStatus } from "@firebolt-operator/kube/reconcile";
import type { OperatorDefaults } from "../api/operator-defaults.ts";
import { Evaluations } from "./auto-stop/evaluations.ts";
import type { EngineCaches } from "./cluster/caches.ts";
import { kubeCluster, type StoredVersions } from "./cluster/kube-cluster.ts";
import {
  engineOfDeclared,
  engineOfEngineEvent,
  enginesOfClassEvent,
  enginesOfInstanceEvent,
} from "./cluster/triggers.ts";
import type { DemandSource } from "./demand/demand-source.ts";
import type { GatewayReports } from "./gateways/gateway-reports.ts";
import { type EngineMetrics, noEngineMetrics } from "./metrics-hooks.ts";
import { CHILD_KINDS, CHILDREN, type ChildKind, PODS } from "./model/child-kinds.ts";
import { SHOWN_RECORDS } from "./model/shown-state.ts";
import type { ResourceBounds } from "./model/validate.ts";
import { runEnginePass } from "./pass/pass.ts";
import type { QueryProber } from "./probe/query-probe.ts";

export interface EngineControllerDeps {
  readonly client: KubeClient;
  readonly caches: EngineCaches;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly defaults: OperatorDefaults;
  readonly bounds: ResourceBounds;
  /** Probes pods for their queries beside the passes. */
  readonly prober: QueryProber;
  /** How long after a switch a drain probe counts; by default longer than DNS servers cache. */
  readonly drainSettleMs?: number;
  readonly metrics?: EngineMetrics;
  /** The demand that gateways report. */
  readonly demand?: DemandSource;
  /** Whether gateways still send queries to a generation. */
  readonly gateways?: GatewayReports;
  /** Engines worked on at the same time. */
  readonly concurrency?: number;
}

const DEFAULT_CONCURRENCY = 8;
export const DEFAULT_DRAIN_SETTLE_MS = 35_000;

export function engineController(deps: EngineControllerDeps): Controller {
  const { client, caches, clock, events, defaults, bounds, demand, gateways, prober, metrics = noEngineMetrics } = deps;
  const { drainSettleMs = DEFAULT_DRAIN_SETTLE_MS } = deps;
  const nowMs = () => clock.now();
  const evaluations = new Evaluations();
  const stored: StoredVersions = new Map();
  const pruned = new PrunedStatus(["drainChecked", ...SHOWN_RECORDS]);
  return {
    name: "fireboltengine",
    concurrency: deps.concurrency ?? DEFAULT_CONCURRENCY,
    watches: [
      watch(caches.engines, engineOfEngineEvent),
      ...CHILD_KINDS.map((kind) => watchChildren(caches, kind)),
      watch(caches.pods, engineOfDeclared(caches.engines, PODS)),
      watch(caches.instances, enginesOfInstanceEvent(caches.engines)),
      watch(caches.classes, enginesOfClassEvent(caches.engines)),
      watchProbes(prober),
      ...(demand === undefined ? [] : [watchDemand(demand)]),
      ...(gateways === undefined ? [] : [watchGateways(gateways)]),
    ],
    reconcile({ namespace = "", name }, signal, { logger }) {
      // A deleted engine needs no memory; a new engine of the same name has other versions anyway.
      if (caches.engines.get({ namespace, name }) === undefined) {
        stored.delete(formatKey({ namespace, name }));
        pruned.forget(namespace, name);
      }
      const cluster = kubeCluster({
        client,
        caches,
        signal,
        prober,
        evaluations,
        stored,
        pruned,
        logger,
        ...(demand === undefined ? {} : { demand }),
        ...(gateways === undefined ? {} : { gateways }),
      });
      const settings = { defaults, bounds, drainSettleMs };
      return runEnginePass(cluster, { namespace, name }, { ...settings, nowMs, events, metrics, logger });
    },
  };
}

function watchChildren<K extends ChildKind>({ engines, children }: EngineCaches, kind: K): WatchSource {
  return watch(children[kind], engineOfDeclared(engines, CHILDREN[kind]));
}

function watchProbes(prober: QueryProber): WatchSource {
  return {
    describe: "QueryProbe",
    start: (enqueue) => prober.onResult(enqueue),
    whenSynced: () => Promise.resolve(),
  };
}

function watchGateways(gateways: GatewayReports): WatchSource {
  return {
    describe: "GatewayReports",
    start: (enqueue) => gateways.onResult(enqueue),
    whenSynced: () => Promise.resolve(),
  };
}

function watchDemand(demand: DemandSource): WatchSource {
  return {
    describe: "WakeDemand",
    start: (enqueue) => demand.onDemand(enqueue),
    whenSynced: () => Promise.resolve(),
  };
}
