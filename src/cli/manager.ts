// The manager: flags in, a running operator out. The parts know each other only through what they are given here.
import { homedir } from "node:os";
import { type Logger, systemClock } from "@firebolt-operator/kube";
import { loadKubeconfig } from "@firebolt-operator/kube/client";
import { createManager, type Manager } from "@firebolt-operator/kube/controller";
import { createRuntimeMetrics, createWatchMetrics } from "@firebolt-operator/kube/metrics";
import { createProbes } from "@firebolt-operator/kube/serving";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { ResourceBounds } from "../engine/validate.ts";
import { createProductMetrics } from "../metrics/product-metrics.ts";
import { connect, electionProblems, ownNamespace } from "./connections.ts";
import { addControllers } from "./controllers.ts";
import { waitForCrds } from "./crd-discovery.ts";
import { operatorDefaultsOf } from "./default-flags.ts";
import { describeFlags, parseFlags, SettingError, UsageError } from "./flags.ts";
import { renderingOf, withSleepCommand } from "./instance-flags.ts";
import {
  boundsOf,
  concurrencyOf,
  listenAddress,
  MANAGER_FLAGS,
  type ManagerFlags,
  namespaceList,
  selectorOf,
} from "./manager-flags.ts";
import { addMetricsServer } from "./metrics.ts";
import { operatorIdentity } from "./operator-identity.ts";
import { endOnDefects, stopOnSignals } from "./process-end.ts";
import { sleepCommandFor } from "./server-version.ts";
import { loggerFor } from "./shared-flags.ts";
import { REVISION, VERSION } from "./version.ts";
import { addWebhooks } from "./webhooks.ts";

export const MANAGER_USAGE = `usage: firebolt-operator [manager] [flags]
       firebolt-operator SUBCOMMAND --help

  manager     runs the operator (default; may be omitted)
  wake-agent  the sidecar of a gateway
  crds        prints the custom resource definitions
  render      prints what the operator would render
  sleep       waits for so many seconds

${describeFlags(MANAGER_FLAGS)}`;

export async function runManager(args: readonly string[]): Promise<number> {
  const flags = parseFlags(MANAGER_FLAGS, args);
  if (flags.help) {
    process.stdout.write(`${MANAGER_USAGE}\n`);
    return 0;
  }
  if (flags.version) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const settings = { bounds: boundsOf(flags), selector: selectorOf(flags) };
  checkCombinations(flags);
  const logger = loggerFor(flags);
  const stop = new AbortController();
  stopOnSignals(stop, logger);
  endOnDefects(logger);
  try {
    const manager = await buildManager({ flags, ...settings }, logger, stop.signal);
    await manager.run(stop.signal);
    return 0;
  } catch (error) {
    if (stop.signal.aborted && error === stop.signal.reason) return 0;
    if (error instanceof UsageError) throw error;
    logger.error("the manager ended", error);
    return 1;
  }
}

/** What one flag alone cannot tell. */
function checkCombinations(flags: ManagerFlags): void {
  const problems = electionProblems(flags);
  if (problems.length > 0) throw new SettingError(problems.join("; "));
}

interface Settings {
  readonly flags: ManagerFlags;
  readonly bounds: ResourceBounds;
  readonly selector: string;
}

async function buildManager(settings: Settings, root: Logger, signal: AbortSignal): Promise<Manager> {
  const { flags, bounds, selector } = settings;
  const logger = root.with({ logger: "setup" });
  const namespaces = namespaceList(flags.namespaces);
  const wanted = renderingOf(flags);
  const config = await loadKubeconfig({ path: flags.kubeconfig, env: process.env, homeDir: homedir() });
  logger.info("starting", { version: VERSION, revision: REVISION, node: process.version, cluster: config.origin });
  logger.info("scope", { namespaces: namespaces.length === 0 ? "all" : namespaces, selector });
  logger.info("resource bounds", {
    maxCPU: bounds.cpu,
    maxMemory: bounds.memory,
    maxEphemeralStorage: bounds["ephemeral-storage"],
  });

  const { wakeAgent, wakeMode, gatewayClusterRole } = wanted;
  logger.info("gateways", {
    wakeAgent: wakeAgent?.image ?? "none",
    wakeMode,
    clusterRole: gatewayClusterRole ?? "none",
  });
  if (flags.telemetry) logger.info("there is no telemetry: nothing is sent");

  const registry = flags["metrics-bind-address"] === "0" ? undefined : new Registry();
  // The library's own 10 ms would wake an idle manager a hundred times a second.
  if (registry !== undefined) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  const metrics = createRuntimeMetrics(registry);
  const watches = createWatchMetrics(registry);
  const build = { version: VERSION, revision: REVISION, nodeVersion: process.version };
  const product = createProductMetrics(registry, { clock: systemClock, build });
  const {
    client,
    unfenced,
    demand,
    probes: probeClient,
    recorder,
    elector,
  } = connect({ flags, config, metrics, logger: root });
  await waitForCrds({ client, clock: systemClock, logger, signal });
  const rendering = withSleepCommand(wanted, await sleepCommandFor({ client, logger, signal }));

  const probes = listenAddress(flags["health-probe-bind-address"]);
  const manager = createManager({
    logger,
    clock: systemClock,
    shutdownTimeoutMs: flags["shutdown-timeout"],
    ...(probes === undefined ? {} : { probes: createProbes({ ...probes, clock: systemClock, logger }) }),
  });
  const namespace = ownNamespace(flags, config);
  const operator = operatorIdentity({ config, namespace, webhookSecret: flags["webhook-cert-secret"] });
  logger.info("own account", { namespace: operator?.account?.namespace, name: operator?.account?.name ?? "unknown" });
  if (registry !== undefined)
    addMetricsServer(manager, { flags, registry, client: unfenced, observer: product.certificates.metrics, logger });
  addWebhooks(manager, {
    flags,
    namespace,
    inCluster: process.env["KUBERNETES_SERVICE_HOST"] !== undefined,
    bounds,
    operator,
    client: unfenced,
    logger: root.with({ logger: "webhooks" }),
    registry,
    certificateObserver: product.certificates.webhook,
  });
  if (elector !== undefined) manager.add(elector);
  manager.add(recorder);
  addControllers({
    manager,
    client,
    logger: root,
    metrics,
    product,
    watches,
    events: recorder,
    namespaces,
    selector,
    bounds,
    defaults: { ...operatorDefaultsOf(flags), ...(operator === undefined ? {} : { operator }) },
    rendering,
    demandClient: demand,
    probeClient,
    drainSettleMs: flags["drain-settle"],
    concurrency: concurrencyOf(flags),
  });
  return manager;
}
