// The wake agent: the sidecar of a gateway that holds queries for stopped engines, asks for them to be woken and lets the queries
// go when they can be served. Wiring and the slow loops; it is never in the way of a query for an engine that serves.
import type { Clock, Logger } from "@firebolt-operator/kube";
import { createObjectCache } from "@firebolt-operator/kube/cache";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { ANNOTATION } from "../api/labels.ts";
import { Absence } from "./absence.ts";
import { Demand, renderDemandPage } from "./demand.ts";
import { createDemandDoor, createHoldDoor } from "./doors.ts";
import { EngineView, indexSlices, Sight } from "./engine-view.ts";
import { attemptThroughEnvoy } from "./envoy.ts";
import { Gatekeeper } from "./gatekeeper.ts";
import { GatewayWatch } from "./gateway-watch.ts";
import { holdCapacity } from "./hold-capacity.ts";
import { EndpointSlice, serviceSelector, trimEngine, trimSlice, WatchedEngine } from "./kinds.ts";
import { Reach } from "./reach.ts";
import { Stamper } from "./stamper.ts";
import { WaitingRoom } from "./waiting-room.ts";

export interface WakeAgentOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly holdPort: number;
  readonly demandPort: number;
  /** Empty: memory and drain are not looked at. */
  readonly envoyAdminUrl: string;
  /** Empty: an engine counts as reachable as soon as it is ready. */
  readonly probeUrl: string;
  readonly envoyLimitBytes: number;
  readonly perHoldBytes: number;
  readonly fallbackHoldCap: number;
  readonly holdTimeoutMs: number;
  readonly demandRetentionMs: number;
  /** Write wake requests on engines. Without it engines are not read either: the agent then needs no right on them. */
  readonly stampAnnotation: boolean;
  /** The agent's own memory limit; undefined without one. */
  readonly ownLimitBytes?: number | undefined;
}

export interface WakeAgent {
  /** Resolves when both listeners are bound: long before anything is known about engines. */
  readonly whenListening: Promise<void>;
  readonly ports: () => { readonly hold: number | undefined; readonly demand: number | undefined };
  /** Until the signal fires. Rejects when a port is taken. */
  run(signal: AbortSignal): Promise<void>;
}

const WRITE_DEADLINE_MS = 10_000;
/** A gateway waits for two seconds for the word of its agent. */
const CONFIRM_DEADLINE_MS = 1_000;
/** Bookmarks come every minute: a watch that is silent for longer is broken. */
const WATCH_SILENCE_MS = 90_000;

export function createWakeAgent(options: WakeAgentOptions): WakeAgent {
  const { client, namespace, clock, logger } = options;
  const stop = new AbortController();
  const sights = { engines: new Sight(), slices: new Sight() };
  const shared = { client, logger, clock, namespaces: [namespace], timings: { idleTimeoutMs: WATCH_SILENCE_MS } };
  const engines = options.stampAnnotation
    ? createObjectCache({ ...shared, type: WatchedEngine, trim: trimEngine, observer: sights.engines.observer })
    : undefined;
  const slices = createObjectCache({
    ...shared,
    type: EndpointSlice,
    trim: trimSlice,
    indexes: indexSlices,
    observer: sights.slices.observer,
  });
  const view = new EngineView({ namespace, engines, slices, sights, firstEpoch: clock.now() });
  const room = new WaitingRoom(clock);
  const demand = new Demand({ clock, retentionMs: options.demandRetentionMs, parked: (name) => room.countOf(name) });
  const stamper = new Stamper({
    clock,
    logger,
    waiting: room,
    engine: (name) => view.engine(name),
    write: async (name, time, signal) => {
      const body = { metadata: { annotations: { [ANNOTATION.wakeRequested]: time } } };
      const call = { signal, timeoutMs: WRITE_DEADLINE_MS, fieldManager: "firebolt-gateway" };
      await client.patch(WatchedEngine, { namespace, name }, { type: "merge", body }, call);
    },
  });
  const attempt = (engine: string, signal: AbortSignal) =>
    options.probeUrl === ""
      ? Promise.resolve("cannot ask" as const)
      : attemptThroughEnvoy(options.probeUrl, engine, signal);
  const reach = new Reach({ clock, logger, view, room, attempt, signal: stop.signal });
  const gateway = new GatewayWatch({ clock, room, view, adminUrl: options.envoyAdminUrl });
  const absence = new Absence({
    clock,
    logger,
    exists: existence(options),
    progress: () => view.progress,
    signal: stop.signal,
  });
  const gatekeeper = new Gatekeeper({
    view,
    absence,
    room,
    reach,
    demand,
    stamper,
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
  const holdDoor = createHoldDoor({ port: options.holdPort, gatekeeper, epoch: () => view.epoch, logger });
  const demandDoor = createDemandDoor(options.demandPort, () =>
    renderDemandPage({
      rows: demand.rows(),
      dropped: demand.dropped,
      apiErrors: { write: stamper.failures, watch: sights.engines.failures + sights.slices.failures },
    }),
  );

  return {
    whenListening: Promise.all([holdDoor.whenListening, demandDoor.whenListening]).then(() => undefined),
    ports: () => ({ hold: holdDoor.port, demand: demandDoor.port }),
    async run(signal) {
      const end = (): void => stop.abort(signal.reason);
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
      const close = view.open();
      stamper.open(stop.signal);
      stop.signal.addEventListener("abort", () => room.releaseAll("closing"), { once: true });
      const parts = [
        holdDoor.run(stop.signal),
        demandDoor.run(stop.signal),
        ...(engines === undefined ? [] : [engines.run(stop.signal)]),
        slices.run(stop.signal),
        ...(options.envoyAdminUrl === "" ? [] : [gateway.run(stop.signal)]),
      ];
      // One part that fails takes the others with it: half an agent would be worse than none.
      const ended = await Promise.allSettled(parts.map((part) => part.finally(() => stop.abort())));
      signal.removeEventListener("abort", end);
      close();
      for (const part of ended) if (part.status === "rejected") throw part.reason;
    },
  };
}

/** What the watches show, read directly and for one engine: the engine itself or, without the right to read it, its Service's slices. */
function existence({ client, namespace, stampAnnotation }: WakeAgentOptions) {
  return async (name: string, signal: AbortSignal): Promise<boolean> => {
    const call = { signal, timeoutMs: CONFIRM_DEADLINE_MS };
    if (stampAnnotation) return (await client.find(WatchedEngine, { namespace, name }, call)) !== undefined;
    const slices = await client.list(EndpointSlice, {
      ...call,
      namespace,
      labelSelector: serviceSelector(name),
      limit: 1,
    });
    return slices.items.length > 0;
  };
}
