// The subcommand `wake-agent`: the sidecar of a gateway. Flags and environment in, a running agent out. It loads
// nothing of the manager, which would take memory in every gateway pod.
import { homedir } from "node:os";
import { type Logger, systemClock } from "@firebolt-operator/kube";
import { createKubeClient, loadKubeconfig } from "@firebolt-operator/kube/client";
import { VERSION } from "../../command-line/version.ts";
import { createWakeAgent } from "../../wake-agent/wake-agent.ts";
import { describeFlags, parseFlags } from "../flags/flag-table.ts";
import { loggerFor } from "../flags/shared-flags.ts";
import { memoryLimitBytes, WAKE_AGENT_FLAGS, type WakeAgentFlags } from "../flags/wake-agent-flags.ts";
import { exitOnDefects, stopOnSignals } from "./process-exit.ts";

export const WAKE_AGENT_USAGE = `usage: firebolt-operator wake-agent [flags]\n\n${describeFlags(WAKE_AGENT_FLAGS)}`;

/** Node reports a value above this when the process has no memory limit. */
const NO_LIMIT_BYTES = 2 ** 50;

export async function runWakeAgent(args: readonly string[]): Promise<number> {
  const flags = parseFlags(WAKE_AGENT_FLAGS, args);
  if (flags.help) {
    process.stdout.write(`${WAKE_AGENT_USAGE}\n`);
    return 0;
  }
  const logger = loggerFor(flags).with({ logger: "wake-agent" });
  const stop = new AbortController();
  stopOnSignals(stop, logger);
  exitOnDefects(logger);
  try {
    await serve(flags, logger, stop.signal);
    return 0;
  } catch (error) {
    logger.error("the wake agent failed", error);
    return 1;
  }
}

async function serve(flags: WakeAgentFlags, logger: Logger, signal: AbortSignal): Promise<void> {
  const { env } = process;
  const namespace = flags.namespace || env["POD_NAMESPACE"] || "";
  if (namespace === "") throw new Error("no namespace: pass --namespace or set POD_NAMESPACE");
  const config = await loadKubeconfig({ path: flags.kubeconfig, env, homeDir: homedir() });
  const client = createKubeClient({ config, logger, userAgent: `firebolt-operator/${VERSION} (wake-agent)` });
  const agent = createWakeAgent({
    client,
    namespace,
    clock: systemClock,
    logger,
    holdPort: flags["hold-port"],
    demandPort: flags["demand-port"],
    discoveryPort: flags["discovery-port"],
    envoyAdminUrl: flags["envoy-admin-url"],
    probeUrl: flags["probe-url"],
    envoyLimitBytes: memoryLimitBytes(flags["envoy-memory-limit-bytes"], env["ENVOY_MEMORY_LIMIT_BYTES"]),
    perHoldBytes: flags["per-hold-bytes"],
    fallbackHoldCap: flags["fallback-hold-cap"],
    holdTimeoutMs: flags["hold-timeout"],
    demandRetentionMs: flags["demand-retention"],
    writesWakeRequests: flags["stamp-annotation"],
    ownLimitBytes: ownLimitBytes(),
  });
  logger.info("starting", { version: VERSION, namespace, cluster: config.origin });
  try {
    await agent.run(signal);
  } finally {
    client.close();
  }
}

function ownLimitBytes(): number | undefined {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < NO_LIMIT_BYTES ? limit : undefined;
}
