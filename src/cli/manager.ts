// The manager: flags in, a running operator out. Everything is wired here and nowhere else; the parts know each other only
// through what they are given.
import { homedir, hostname } from "node:os";
import { collectDefaultMetrics, Registry } from "prom-client";
import { FireboltEngine } from "../api/engine.ts";
import { FireboltEngineClass } from "../api/engine-class.ts";
import { FireboltInstance } from "../api/instance.ts";
import { type CacheOptions, createObjectCache } from "../kube/cache.ts";
import type { KubeClient } from "../kube/client.ts";
import { systemClock } from "../kube/clock.ts";
import type { ClusterConfig } from "../kube/cluster-config.ts";
import { validateElectionTiming } from "../kube/election-timing.ts";
import { createKubeClient } from "../kube/kube-client.ts";
import { loadKubeconfig } from "../kube/kubeconfig.ts";
import { parseLabelSelector } from "../kube/label-selector.ts";
import { createLeaderElector, type LeaderElector } from "../kube/leader-election.ts";
import { leaseStore } from "../kube/lease-store.ts";
import type { Logger } from "../kube/logger.ts";
import { createManager, type Manager } from "../kube/manager.ts";
import { createMetricsServer } from "../kube/metrics-server.ts";
import type { KubeObject } from "../kube/object.ts";
import { createProbes } from "../kube/probes.ts";
import type { ResourceType } from "../kube/resource.ts";
import { cacheRunnable } from "../kube/runnable.ts";
import { createRuntimeMetrics, type RuntimeMetrics } from "../kube/runtime-metrics.ts";
import { waitForCrds } from "./crd-discovery.ts";
import { describeFlags, parseFlags, UsageError } from "./flags.ts";
import { createLogger, type TimeEncoding } from "./logging.ts";
import { listenAddress, MANAGER_FLAGS, type ManagerFlags, namespaceList } from "./manager-flags.ts";
import { REVISION, VERSION } from "./version.ts";

export const MANAGER_USAGE = `usage: firebolt-operator [manager] [flags]\n\n${describeFlags(MANAGER_FLAGS)}`;

const EXIT_SECOND_SIGNAL = 130;

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
  checkCombinations(flags);
  const logger = loggerFor(flags);
  const stop = new AbortController();
  stopOnSignals(stop, logger);
  endOnDefects(logger);
  try {
    const manager = await buildManager(flags, logger, stop.signal);
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
  const problems = validateElectionTiming(electionTiming(flags));
  if (flags["leader-elect"] && problems.length > 0) throw new UsageError(problems.join("; "));
  if (flags["metrics-bind-address"] !== "0" && flags["metrics-secure"]) {
    throw new UsageError(
      "--metrics-secure=true: metrics over HTTPS are not available yet; pass --metrics-secure=false to serve them in plain HTTP",
    );
  }
}

function loggerFor(flags: ManagerFlags): Logger {
  const devel = flags["zap-devel"];
  const level = flags["zap-log-level"];
  return createLogger({
    encoder: devel || flags["zap-encoder"] === "console" ? "console" : "json",
    level: devel || level === "debug" || /^\d+$/.test(level) ? "debug" : level === "info" ? "info" : "error",
    timeEncoding: flags["zap-time-encoding"] as TimeEncoding,
    stacks: devel || flags["zap-stacktrace-level"] !== "panic",
    sampled: !devel,
    write: (line) => process.stderr.write(line),
    now: () => systemClock.now(),
  }).with({ logger: "setup" });
}

async function buildManager(flags: ManagerFlags, logger: Logger, signal: AbortSignal): Promise<Manager> {
  const namespaces = namespaceList(flags.namespaces);
  const selector = flags["watch-label-selector"];
  if (selector !== "") parseLabelSelector(selector);
  const config = await loadKubeconfig({ path: flags.kubeconfig, env: process.env, homeDir: homedir() });
  logger.info("starting", { version: VERSION, revision: REVISION, node: process.version, cluster: config.origin });
  logger.info("scope", { namespaces: namespaces.length === 0 ? "all" : namespaces, selector });

  const registry = flags["metrics-bind-address"] === "0" ? undefined : new Registry();
  if (registry !== undefined) collectDefaultMetrics({ register: registry });
  const metrics = createRuntimeMetrics(registry);
  const elector = flags["leader-elect"] ? buildElector(flags, config, metrics, logger) : undefined;
  const client = clientFor(flags, config, metrics, elector);
  await waitForCrds({ client, clock: systemClock, logger, signal });

  const probes = listenAddress(flags["health-probe-bind-address"]);
  const manager = createManager({
    logger,
    clock: systemClock,
    shutdownTimeoutMs: flags["shutdown-timeout"],
    ...(probes === undefined ? {} : { probes: createProbes({ ...probes, clock: systemClock, logger }) }),
  });
  const metricsAddress = listenAddress(flags["metrics-bind-address"]);
  if (registry !== undefined && metricsAddress !== undefined)
    manager.add(createMetricsServer({ ...metricsAddress, registry, logger }));
  const scope = { client, logger, namespaces, ...(selector === "" ? {} : { labelSelector: selector }) };
  manager.add(cacheRunnable(cacheOf(FireboltInstance, scope)));
  manager.add(cacheRunnable(cacheOf(FireboltEngine, scope)));
  manager.add(cacheRunnable(cacheOf(FireboltEngineClass, scope)));
  if (elector !== undefined) manager.add(elector);
  return manager;
}

function cacheOf<T extends KubeObject>(type: ResourceType<T>, scope: Omit<CacheOptions<T>, "type">) {
  return createObjectCache<T>({ ...scope, type });
}

function clientFor(
  flags: ManagerFlags,
  config: ClusterConfig,
  metrics: RuntimeMetrics,
  elector: LeaderElector | undefined,
): KubeClient {
  return createKubeClient({
    config,
    userAgent: `firebolt-operator/${VERSION}`,
    qps: flags["kube-api-qps"],
    burst: flags["kube-api-burst"],
    onRequest: metrics.request,
    ...(elector === undefined ? {} : { guardWrite: () => elector.assertLeading() }),
  });
}

/** The elector has a client of its own: renewals never queue behind other calls, and are not subject to the fence they feed. */
function buildElector(
  flags: ManagerFlags,
  config: ClusterConfig,
  metrics: RuntimeMetrics,
  logger: Logger,
): LeaderElector {
  const namespace = flags["leader-election-namespace"] || config.namespace;
  if (!namespace)
    throw new UsageError(
      "--leader-election-namespace is required out of cluster: neither a pod nor the kubeconfig context names a namespace",
    );
  const client = createKubeClient({ config, userAgent: `firebolt-operator/${VERSION} (leader-election)` });
  const store = leaseStore(client, { namespace, name: flags["leader-election-id"] });
  return createLeaderElector({
    store,
    timing: electionTiming(flags),
    clock: systemClock,
    logger,
    metrics,
    identity: `${hostname()}_${crypto.randomUUID()}`,
  });
}

function electionTiming(flags: ManagerFlags) {
  return {
    leaseMs: flags["leader-election-lease-duration"],
    renewDeadlineMs: flags["leader-election-renew-deadline"],
    retryMs: flags["leader-election-retry-period"],
  };
}

/** The first signal asks for an orderly stop, the second ends at once. */
function stopOnSignals(stop: AbortController, logger: Logger): void {
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    process.on(name, () => {
      logger.info("signal received", { signal: name });
      if (stop.signal.aborted) process.exit(EXIT_SECOND_SIGNAL);
      stop.abort();
    });
  }
}

/** A promise nobody handles is a defect: the process says so and ends, because its state can no longer be trusted. */
function endOnDefects(logger: Logger): void {
  process.on("unhandledRejection", (reason) => {
    logger.error("unhandled rejection", reason);
    process.exit(1);
  });
}
