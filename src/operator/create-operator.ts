// The composition root: options in, an operator that can run out. The program, tests and benchmarks assemble an
// operator here and nowhere else; they differ in options and overrides alone.
import { existsSync } from "node:fs";
import { systemClock } from "@firebolt-operator/kube";
import { createManager, type Manager } from "@firebolt-operator/kube/controller";
import type { LeaderElector } from "@firebolt-operator/kube/election";
import type { EventRecorder } from "@firebolt-operator/kube/events";
import { createRuntimeMetrics, createWatchMetrics, type MetricsServer } from "@firebolt-operator/kube/metrics";
import { createProbes } from "@firebolt-operator/kube/serving";
import { createWebhooks } from "../admission/webhooks.ts";
import type { EngineCaches } from "../engine/cluster/caches.ts";
import { createProductMetrics, type ProductMetrics } from "../metrics/product-metrics.ts";
import { type Clients, createClients } from "./clients.ts";
import { addControllers } from "./controllers.ts";
import { waitForCrds } from "./crd-discovery.ts";
import { addMetricsServer } from "./metrics-server.ts";
import type { OperatorOptions, Rendering } from "./options.ts";
import { sleepCommandFor } from "./server-version.ts";

export interface Operator {
  /** Nothing runs before `manager.run`. */
  readonly manager: Manager;
  /** Resolves when every cache is synced: the controllers may start. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Undefined when neither engines nor classes are reconciled. */
  readonly engineCaches: EngineCaches | undefined;
  readonly elector: LeaderElector | undefined;
  readonly recorder: EventRecorder | undefined;
  readonly metricsServer: MetricsServer | undefined;
  /** Closes the connections of all clients, for a process that outlives its operator. */
  close(): void;
}

/** Waits until the API server serves the three kinds, then assembles the operator. The signal ends the wait. */
export async function createOperator(options: OperatorOptions, signal: AbortSignal): Promise<Operator> {
  const { build, identity, overrides = {}, metrics: serving } = options;
  const logger = options.logger.with({ logger: "setup" });
  const registry = serving?.registry;
  const metrics = overrides.runtimeMetrics ?? createRuntimeMetrics(registry);
  const watches = createWatchMetrics(registry);
  const product = { ...createProductMetrics(registry, { clock: systemClock, build }), ...overrides.productMetrics };
  const clients = createClients(options, metrics);
  const { work: client, serving: unfenced, elector, recorder } = clients;
  await waitForCrds({ client, clock: systemClock, logger, signal });
  const rendering = withSleepCommand(options.rendering, await sleepCommandFor({ client, logger, signal }));

  const manager = createManager({
    logger,
    clock: systemClock,
    ...(options.shutdownTimeoutMs === undefined ? {} : { shutdownTimeoutMs: options.shutdownTimeoutMs }),
    ...(options.probes === undefined
      ? {}
      : { probes: createProbes({ ...options.probes, clock: systemClock, logger }) }),
  });
  const { namespace, name = "unknown" } = identity?.account ?? {};
  logger.info("own account", { namespace, name });
  const observer = product.certificates.metrics;
  const metricsServer =
    serving === undefined
      ? undefined
      : addMetricsServer(manager, { metrics: serving, client: unfenced, observer, logger });
  addWebhooks(manager, options, { clients, product });
  if (elector !== undefined) manager.add(elector);
  if (recorder !== undefined) manager.add(recorder);
  const defaults = { ...options.defaults, ...(identity === undefined ? {} : { operator: identity }) };
  const controllers = addControllers(manager, options, { clients, metrics, product, watches, rendering, defaults });
  return { manager, ...controllers, elector, recorder, metricsServer, close: () => clients.close() };
}

interface WebhookParts {
  readonly clients: Clients;
  readonly product: ProductMetrics;
}

function addWebhooks(manager: Manager, options: OperatorOptions, { clients, product }: WebhookParts): void {
  const { webhooks, bounds, identity } = options;
  if (webhooks === undefined) return;
  const { certificate, optional, ...listen } = webhooks;
  const logger = options.logger.with({ logger: "webhooks" });
  if (optional && certificate.type === "files" && !existsSync(certificate.folder)) {
    // Out of cluster no API server reaches them, and waiting for a certificate would end the process.
    logger.info("no admission webhooks: out of cluster, and there is no certificate", { folder: certificate.folder });
    return;
  }
  manager.add(
    createWebhooks({
      ...listen,
      certificate,
      bounds,
      operator: identity,
      // Every replica serves webhooks: a client that writes without the lease.
      client: clients.serving,
      clock: systemClock,
      logger,
      registry: options.metrics?.registry,
      certificateObserver: product.certificates.webhook,
    }),
  );
}

/** Adds the command that a wake agent's preStop hook runs where the API server has no sleep action. */
function withSleepCommand(rendering: Rendering, sleepCommand: readonly string[] | undefined): Rendering {
  const { wakeAgent } = rendering;
  return wakeAgent === undefined || sleepCommand === undefined
    ? rendering
    : { ...rendering, wakeAgent: { ...wakeAgent, sleepCommand } };
}
