// Runs a controller: waits for its caches, feeds its queue from its watches, and runs its workers. Makes no decisions
// about objects; the reconcile function does.
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { formatKey } from "../core/object.ts";
import type { RuntimeMetrics } from "../metrics/runtime.ts";
import type { Controller } from "./controller.ts";
import type { Runnable } from "./runnable.ts";
import { work } from "./worker.ts";
import { WorkQueue } from "./workqueue.ts";

/** What every controller needs to run. */
export interface ControllerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: RuntimeMetrics;
}

/** A worker that has held one key this long without a heartbeat is stuck: the health check fails. */
const STUCK_AFTER_MS = 10 * 60_000;

/** Runs a controller: waits for its caches, feeds its queue from its watches, and runs its workers. */
export function controllerRunnable(controller: Controller, deps: ControllerDeps): Runnable {
  const { clock, metrics } = deps;
  const concurrency = controller.concurrency ?? 1;
  const logger = deps.logger.with({ controller: controller.name });
  const observer = metrics.queue(controller.name);
  const queue = new WorkQueue({ clock, observer });
  observer.watch(() => queue.running());
  const passes = metrics.passes(controller.name, concurrency);
  const worker = { queue, reconcile: controller.reconcile, logger, clock, passes };

  return {
    name: `controller-${controller.name}`,
    group: "controllers",

    async run(signal) {
      // Sync before work: a pass over a partially filled cache would mistake absence for a fact.
      await synced(controller, signal);
      if (signal.aborted) return;
      // One failing worker stops the others: they share the queue and the fate of the process.
      const failed = new AbortController();
      const ended = AbortSignal.any([signal, failed.signal]);
      const stopSources = controller.watches.map((source) => source.start((key) => queue.add(formatKey(key))));
      logger.info("controller started", { workers: concurrency });
      try {
        const workers = Array.from({ length: concurrency }, async () => {
          try {
            await work(worker, ended);
          } catch (error) {
            failed.abort(error);
            throw error;
          }
        });
        await allSettledOrThrow(workers);
      } finally {
        for (const stop of stopSources) stop();
        queue.close();
        logger.info("controller stopped");
      }
    },

    problem() {
      const { longestSilentMs } = queue.running();
      if (longestSilentMs <= STUCK_AFTER_MS) return undefined;
      return `a worker has held one key for ${Math.round(longestSilentMs / 1000)} s`;
    },
  };
}

async function synced(controller: Controller, signal: AbortSignal): Promise<void> {
  try {
    await Promise.all(controller.watches.map((source) => source.whenSynced(signal)));
  } catch (error) {
    // A stop during the wait is not a failure.
    if (!signal.aborted) throw error;
  }
}

/** Waits for all, so that no worker outlives the controller, and only then throws the first failure. */
async function allSettledOrThrow(promises: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(promises)) if (outcome.status === "rejected") throw outcome.reason;
}
