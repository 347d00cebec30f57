// Discovery as a part of the agent: what is published follows the view of engines, the server starts once that view is
// complete, and unused engines are removed.
import { type Clock, type Logger, pause } from "@firebolt-operator/kube";
import type { EngineView } from "../engine-view.ts";
import { createDiscoveryServer } from "./discovery-server.ts";
import { EngineDiscovery, SWEEP_EVERY_MS } from "./engine-discovery.ts";

export interface DiscoveryServiceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly namespace: string;
  readonly view: EngineView;
  /** 0: nothing is published, and Envoy resolves engines by name. */
  readonly port: number;
}

export interface DiscoveryService {
  readonly discovery: EngineDiscovery;
  /** Runs until the signal fires. Rejects when the port is in use. */
  run(signal: AbortSignal): Promise<void>;
}

const SYNC_POLL_MS = 50;
const WATCH_POLL_MS = 1_000;
/** A watch that is renewed is back within this time. */
const LOST_MS = 5_000;

export function createDiscoveryService(options: DiscoveryServiceOptions): DiscoveryService {
  const { clock, logger, namespace, view, port } = options;
  const discovery = new EngineDiscovery({
    clock,
    logger,
    namespace,
    endpoints: (engine) => view.endpoints(engine),
    exists: (engine) => view.availability(engine) !== "unknown",
    invalidate: () => view.invalidate(),
  });
  view.onUpdate((engine) => discovery.update(engine));
  const server = createDiscoveryServer({ port, discovery, logger });
  const sweepForever = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await pause(clock, SWEEP_EVERY_MS, signal);
      if (!signal.aborted) discovery.sweep();
    }
  };
  const followWatch = async (signal: AbortSignal): Promise<void> => {
    let lostMs = 0;
    while (!signal.aborted) {
      lostMs = view.areEndpointsLost ? lostMs + WATCH_POLL_MS : 0;
      discovery.suspend(lostMs >= LOST_MS);
      await pause(clock, WATCH_POLL_MS, signal);
    }
  };
  return {
    discovery,
    async run(signal) {
      // Not before the watches have listed: Envoy would lose engines that it has from an earlier agent.
      while (!view.complete && !signal.aborted) await pause(clock, SYNC_POLL_MS, signal);
      const ended = new AbortController();
      const serving = server.run(signal).finally(() => ended.abort());
      const whileServing = AbortSignal.any([signal, ended.signal]);
      await Promise.all([serving, sweepForever(whileServing), followWatch(whileServing)]);
    },
  };
}
