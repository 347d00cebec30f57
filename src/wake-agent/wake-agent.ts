// The wake agent: a sidecar of the gateway that holds queries for stopped engines, requests their wake, and releases
// the queries when the engines can serve. Wiring and the slow loops; queries for engines that serve never depend on it.
import type { Clock, Logger } from "@firebolt-operator/kube";
import { createObjectCache } from "@firebolt-operator/kube/cache";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { ANNOTATION } from "../api/labels.ts";
import { WAKE_PATHS } from "../api/wake-protocol.ts";
import { AbsenceCheck } from "./absence-check.ts";
import { Demand, renderDemand } from "./demand.ts";
import { createDiscoveryService } from "./discovery/discovery-service.ts";
import { renderDiscovery } from "./discovery/render-discovery.ts";
import { EngineView, indexSlices, WatchHealth } from "./engine-view.ts";
import { probeThroughEnvoy } from "./envoy-client.ts";
import { GatewayMonitor } from "./gateway-monitor.ts";
import { HoldAdmission } from "./hold/admission.ts";
import { holdCapacity } from "./hold/capacity.ts";
import { HoldQueue } from "./hold/queue.ts";
import { EndpointSlice, serviceSelector, trimEngine, trimSlice, WatchedEngine } from "./kinds.ts";
import { ReachabilityProbe } from "./reachability-probe.ts";
import { createDemandServer, createHoldServer } from "./servers.ts";
import { WakeRequester } from "./wake-requester.ts";

export interface WakeAgentOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly holdPort: number;
  readonly demandPort: number;
  /** 0: nothing is published, and Envoy resolves engines by name. */
  readonly discoveryPort: number;
  /** Empty: memory and drain state are not read. */
  readonly envoyAdminUrl: string;
  /** Empty: an engine counts as reachable as soon as it is ready. */
  readonly probeUrl: string;
  readonly envoyLimitBytes: number;
  readonly perHoldBytes: number;
  readonly fallbackHoldCap: number;
  readonly holdTimeoutMs: number;
  readonly demandRetentionMs: number;
  /** Without it engines are not read either: the agent then needs no permissions on them. */
  readonly writesWakeRequests: boolean;
  /** The agent's own memory limit; undefined without one. */
  readonly ownLimitBytes?: number | undefined;
}

export interface WakeAgent {
  /** Resolves when both servers listen: long before the watches have synced. */
  readonly whenListening: Promise<void>;
  readonly ports: () => { readonly hold: number | undefined; readonly demand: number | undefined };
  /** Runs until the signal fires. Rejects when a port is in use. */
  run(signal: AbortSignal): Promise<void>;
}

const WRITE_DEADLINE_MS = 10_000;
/** A gateway waits two seconds for a response of its agent. */
const CONFIRM_DEADLINE_MS = 1_000;
/** Bookmarks arrive every minute: a watch that is silent for longer is broken. */
const WATCH_SILENCE_MS = 90_000;

export function createWakeAgent(options: WakeAgentOptions): WakeAgent {
  const { client, namespace, clock, logger, demandRetentionMs: retentionMs } = options;
  const stop = new AbortController();
  const watchHealth = { engines: new WatchHealth(), slices: new WatchHealth() };
  const shared = { client, logger, clock, namespaces: [namespace], timings: { idleTimeoutMs: WATCH_SILENCE_MS } };
  const engines = options.writesWakeRequests
    ? createObjectCache({ ...shared, type: WatchedEngine, trim: trimEngine, observer: watchHealth.engines.observer })
    : undefined;
  const slices = createObjectCache({
    ...shared,
    type: EndpointSlice,
    trim: trimSlice,
    indexes: indexSlices,
    observer: watchHealth.slices.observer,
  });
  const view = new EngineView({ namespace, engines, slices, watchHealth, firstEpoch: clock.now() });
  const queue = new HoldQueue(clock);
  const demand = new Demand({ clock, retentionMs, heldCount: (engine) => queue.countOf(engine) });
  const wakeRequester = createWakeRequester(options, queue, view);
  const discoveryService = createDiscoveryService({ clock, logger, namespace, view, port: options.discoveryPort });
  const { discovery } = discoveryService;
  const attempt = async (engine: string, signal: AbortSignal) => {
    // Endpoints that Envoy has accepted need no probe. It sends queries to no others, whatever DNS servers return.
    if (await discovery.publish(engine)) return "yes" as const;
    return options.probeUrl === "" ? ("unavailable" as const) : probeThroughEnvoy(options.probeUrl, engine, signal);
  };
  const probe = new ReachabilityProbe({ clock, logger, view, queue, attempt, signal: stop.signal });
  const gateway = new GatewayMonitor({ clock, queue, view, adminUrl: options.envoyAdminUrl });
  const absence = new AbsenceCheck({
    clock,
    logger,
    exists: existence(options),
    progress: () => view.progress,
    signal: stop.signal,
  });
  const admission = new HoldAdmission({
    view,
    absence,
    queue,
    probe,
    demand,
    wakeRequester,
    holdTimeoutMs: options.holdTimeoutMs,
    capacity: () =>
      holdCapacity({
        envoyLimitBytes: options.envoyLimitBytes,
        envoyAllocatedBytes: gateway.allocatedBytes,
        perHoldBytes: options.perHoldBytes,
        fallback: options.fallbackHoldCap,
        ownLimitBytes: options.ownLimitBytes,
      }),
  });
  const holdServer = createHoldServer({
    port: options.holdPort,
    admission,
    epoch: () => view.epoch + discovery.renumbered,
    publish: (engine) => discovery.publish(engine),
    logger,
  });
  const demandServer = createDemandServer(options.demandPort, {
    [WAKE_PATHS.demand]: () =>
      renderDemand({
        rows: demand.rows(),
        dropped: demand.dropped,
        apiErrors: { write: wakeRequester.failures, watch: watchHealth.engines.failures + watchHealth.slices.failures },
      }),
    [WAKE_PATHS.discovery]: () => renderDiscovery({ discovery, view, gateway }),
  });

  return {
    whenListening: Promise.all([holdServer.whenListening, demandServer.whenListening]).then(() => undefined),
    ports: () => ({ hold: holdServer.port, demand: demandServer.port }),
    async run(signal) {
      const end = (): void => stop.abort(signal.reason);
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
      const close = view.open();
      wakeRequester.open(stop.signal);
      stop.signal.addEventListener("abort", () => queue.releaseAll("shutdown"), { once: true });
      const parts = [
        holdServer.run(stop.signal),
        demandServer.run(stop.signal),
        ...(engines === undefined ? [] : [engines.run(stop.signal)]),
        slices.run(stop.signal),
        ...(options.discoveryPort === 0 ? [] : [discoveryService.run(stop.signal)]),
        ...(options.envoyAdminUrl === "" ? [] : [gateway.run(stop.signal)]),
      ];
      // One part that fails stops the others: a partial agent would be worse than none.
      const ended = await Promise.allSettled(parts.map((part) => part.finally(() => stop.abort())));
      signal.removeEventListener("abort", end);
      close();
      for (const part of ended) if (part.status === "rejected") throw part.reason;
    },
  };
}

function createWakeRequester(
  { client, namespace, clock, logger }: WakeAgentOptions,
  waiting: HoldQueue,
  view: EngineView,
): WakeRequester {
  return new WakeRequester({
    clock,
    logger,
    waiting,
    engine: (name) => view.engine(name),
    write: async (name, time, signal) => {
      const body = { metadata: { annotations: { [ANNOTATION.wakeRequested]: time } } };
      const call = { signal, timeoutMs: WRITE_DEADLINE_MS, fieldManager: "firebolt-gateway" };
      await client.patch(WatchedEngine, { namespace, name }, { type: "merge", body }, call);
    },
  });
}

/**
 * The same as the watches, read directly for one engine: the engine itself or, without the permission to read it, the
 * slices of its Service.
 */
function existence({ client, namespace, writesWakeRequests }: WakeAgentOptions) {
  return async (name: string, signal: AbortSignal): Promise<boolean> => {
    const call = { signal, timeoutMs: CONFIRM_DEADLINE_MS };
    if (writesWakeRequests) return (await client.find(WatchedEngine, { namespace, name }, call)) !== undefined;
    const slices = await client.list(EndpointSlice, {
      ...call,
      namespace,
      labelSelector: serviceSelector(name),
      limit: 1,
    });
    return slices.items.length > 0;
  };
}
