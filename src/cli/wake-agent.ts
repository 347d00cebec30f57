// The subcommand `wake-agent`: the sidecar of a gateway. Flags and environment in, a running agent out. It loads nothing of the
// manager: its memory is a few dozen megabytes in every gateway pod.
import { homedir } from "node:os";
import { systemClock } from "../kube/clock.ts";
import { createKubeClient } from "../kube/kube-client.ts";
import { loadKubeconfig } from "../kube/kubeconfig.ts";
import type { Logger } from "../kube/logger.ts";
import { createWakeAgent } from "../wake-agent/wake-agent.ts";
import { describeFlags, parseFlags } from "./flags.ts";
import { createLogger, type TimeEncoding } from "./logging.ts";
import { VERSION } from "./version.ts";
import { memoryLimitBytes, WAKE_AGENT_FLAGS, type WakeAgentFlags } from "./wake-agent-flags.ts";

export const WAKE_AGENT_USAGE = `usage: firebolt-operator wake-agent [flags]\n\n${describeFlags(WAKE_AGENT_FLAGS)}`;

/** What a process without a memory limit is told instead of one. */
const NO_LIMIT_BYTES = 2 ** 50;
const EXIT_SECOND_SIGNAL = 130;

export async function runWakeAgent(args: readonly string[]): Promise<number> {
  const flags = parseFlags(WAKE_AGENT_FLAGS, args);
  if (flags.help) {
    process.stdout.write(`${WAKE_AGENT_USAGE}\n`);
    return 0;
  }
  const logger = loggerFor(flags);
  const stop = new AbortController();
  endOnSignalsAndDefects(stop, logger);
  try {
    await serve(flags, logger, stop.signal);
    return 0;
  } catch (error) {
    logger.error("the wake agent ended", error);
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
    envoyAdminUrl: flags["envoy-admin-url"],
    probeUrl: flags["probe-url"],
    envoyLimitBytes: memoryLimitBytes(flags["envoy-memory-limit-bytes"], env["ENVOY_MEMORY_LIMIT_BYTES"]),
    perHoldBytes: flags["per-hold-bytes"],
    fallbackHoldCap: flags["fallback-hold-cap"],
    holdTimeoutMs: flags["hold-timeout"],
    demandRetentionMs: flags["demand-retention"],
    stampAnnotation: flags["stamp-annotation"],
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

function loggerFor(flags: WakeAgentFlags): Logger {
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
  }).with({ logger: "wake-agent" });
}

function endOnSignalsAndDefects(stop: AbortController, logger: Logger): void {
  for (const name of ["SIGTERM", "SIGINT"] as const) {
    process.on(name, () => {
      logger.info("signal received", { signal: name });
      if (stop.signal.aborted) process.exit(EXIT_SECOND_SIGNAL);
      stop.abort();
    });
  }
  process.on("unhandledRejection", (reason) => {
    logger.error("unhandled rejection", reason);
    process.exit(1);
  });
}
