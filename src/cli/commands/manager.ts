// The subcommand `manager`: flags in, a running operator out. The parts are assembled in src/operator.
import { homedir } from "node:os";
import type { Logger } from "@firebolt-operator/kube";
import { loadKubeconfig } from "@firebolt-operator/kube/client";
import { collectDefaultMetrics, Registry } from "prom-client";
import { REVISION, VERSION } from "../../command-line/version.ts";
import type { ResourceBounds } from "../../engine/model/validate.ts";
import { createOperator, type Operator } from "../../operator/create-operator.ts";
import { describeFlags, parseFlags, SettingError, UsageError } from "../flags/flag-table.ts";
import { boundsOf, MANAGER_FLAGS, type ManagerFlags, selectorOf } from "../flags/manager-flags.ts";
import { loggerFor } from "../flags/shared-flags.ts";
import { electionProblems, operatorOptionsOf } from "../options/operator-options.ts";
import { exitOnDefects, stopOnSignals } from "./process-exit.ts";

export const MANAGER_USAGE = `usage: firebolt-operator [manager] [flags]
       firebolt-operator SUBCOMMAND --help

  manager     run the operator (default)
  wake-agent  run the sidecar of a gateway
  crds        print the custom resource definitions
  render      print what the operator renders for a manifest
  sleep       wait for a number of seconds

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
  exitOnDefects(logger);
  try {
    const operator = await buildOperator({ flags, ...settings }, logger, stop.signal);
    await operator.manager.run(stop.signal);
    return 0;
  } catch (error) {
    if (stop.signal.aborted && error === stop.signal.reason) return 0;
    if (error instanceof UsageError) throw error;
    logger.error("the manager failed", error);
    return 1;
  }
}

/** Checks that involve several flags. */
function checkCombinations(flags: ManagerFlags): void {
  const problems = electionProblems(flags);
  if (problems.length > 0) throw new SettingError(problems.join("; "));
}

interface Settings {
  readonly flags: ManagerFlags;
  readonly bounds: ResourceBounds;
  readonly selector: string;
}

async function buildOperator(settings: Settings, root: Logger, signal: AbortSignal): Promise<Operator> {
  const { flags, bounds, selector } = settings;
  const logger = root.with({ logger: "setup" });
  const config = await loadKubeconfig({ path: flags.kubeconfig, env: process.env, homeDir: homedir() });
  const registry = flags["metrics-bind-address"] === "0" ? undefined : new Registry();
  // The library's own 10 ms would wake an idle manager a hundred times a second.
  if (registry !== undefined) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  const inCluster = process.env["KUBERNETES_SERVICE_HOST"] !== undefined;
  const options = operatorOptionsOf(flags, { config, registry, inCluster });
  const { namespaces, rendering } = options;
  logger.info("starting", { version: VERSION, revision: REVISION, node: process.version, cluster: config.origin });
  logger.info("scope", { namespaces: namespaces.length === 0 ? "all" : namespaces, selector });
  logger.info("resource bounds", {
    maxCPU: bounds.cpu,
    maxMemory: bounds.memory,
    maxEphemeralStorage: bounds["ephemeral-storage"],
  });
  logger.info("gateways", {
    wakeAgent: rendering.wakeAgent?.image ?? "none",
    wakeMode: rendering.wakeMode,
    clusterRole: rendering.gatewayClusterRole ?? "none",
  });
  if (flags.telemetry) logger.info("telemetry is not implemented: nothing is sent");
  const build = { version: VERSION, revision: REVISION, nodeVersion: process.version };
  return createOperator({ ...options, config, logger: root, build, bounds, selector }, signal);
}
