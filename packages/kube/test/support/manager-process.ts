// A small program on the runtime, for tests that send signals to processes: one elector, one cache, one controller.
// Reports what happens as JSON lines on stdout, with times of the machine's monotonic clock.

import { createObjectCache } from "../../src/cache/cache.ts";
import { createKubeClient } from "../../src/client/kube-client.ts";
import { loadKubeconfig } from "../../src/config/kubeconfig.ts";
import type { Controller, Reconcile } from "../../src/controller/controller.ts";
import { watch } from "../../src/controller/controller.ts";
import { createManager, ForcedStopError } from "../../src/controller/manager.ts";
import { controllerRunnable } from "../../src/controller/run-controller.ts";
import { cacheRunnable } from "../../src/controller/runnable.ts";
import { systemClock } from "../../src/core/clock.ts";
import { NotLeaderError } from "../../src/core/errors.ts";
import type { Logger } from "../../src/core/logger.ts";
import { keyOf } from "../../src/core/object.ts";
import { createLeaderElector } from "../../src/election/leader-election.ts";
import { leaseStore } from "../../src/election/lease-store.ts";
import { createEventRecorder } from "../../src/events/recorder.ts";
import { eventWriter } from "../../src/events/writer.ts";
import { ConfigMap } from "../../src/kinds/index.ts";
import { silentRuntimeMetrics } from "../../src/metrics/runtime.ts";
import { createProbes } from "../../src/serving/probes.ts";
import { parseManagerSettings } from "./manager-settings.ts";

const BLOCK_AFTER = 10;

/** Milliseconds of the machine's monotonic clock. */
const machineMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

const say = (event: string, fields: object = {}): void => {
  process.stdout.write(`${JSON.stringify({ event, atMs: machineMs(), ...fields })}\n`);
};

const logger: Logger = {
  debug: () => undefined,
  info: (message, fields) => say("log", { message, ...fields }),
  error: (message, error, fields) => say("log", { message, error: String(error), ...fields }),
  with: () => logger,
};

const settings = parseManagerSettings(process.argv[2] ?? "");
const { namespace, identity } = settings;
const config = await loadKubeconfig({ path: settings.kubeconfig, env: {}, homeDir: "/nonexistent" });
const electionClient = createKubeClient({ config });
const client = createKubeClient({ config, guardWrite: () => elector.assertLeading() });
const recorder = createEventRecorder({
  writer: eventWriter(client),
  clock: systemClock,
  logger,
  reportingController: "example.com/manager-process",
  reportingInstance: identity,
});
const elector = createLeaderElector({
  store: leaseStore(electionClient, { namespace, name: settings.lease }),
  timing: settings.timing,
  clock: systemClock,
  logger,
  metrics: silentRuntimeMetrics,
  events: recorder,
  identity,
});

let writes = 0;
/** Creates a ConfigMap, so that the API server's order of writes shows who was active when. */
const leaveMark = async (): Promise<void> => {
  writes += 1;
  const metadata = { namespace, name: `${identity}-${writes}`, labels: { role: "write" } };
  try {
    await client.create(ConfigMap, { metadata, data: { writer: identity } }, { timeoutMs: 5_000 });
    if (writes === 1) say("first-write");
  } catch (error) {
    if (error instanceof NotLeaderError) say("write-refused");
    throw error;
  }
};
const write: Reconcile = async () => {
  await leaveMark();
  return { afterMs: 20 };
};
const block: Reconcile = async () => {
  if (writes === BLOCK_AFTER) {
    say("blocking");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * settings.timing.leaseMs);
  }
  await leaveMark();
  return { afterMs: 20 };
};
const hold: Reconcile = (key, signal) => {
  say("pass-started", { name: key.name });
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => {
      say("pass-aborted", { name: key.name });
      reject(signal.reason);
    });
  });
};
const stubborn: Reconcile = (key) => {
  say("pass-started", { name: key.name });
  return new Promise(() => undefined);
};

const seeds = createObjectCache({
  client,
  type: ConfigMap,
  logger,
  namespaces: [namespace],
  labelSelector: "role=seed",
});
const controller: Controller = {
  name: "process",
  watches: [watch(seeds, ({ object }) => [keyOf(object)])],
  reconcile: { write, block, hold, stubborn }[settings.work],
};
const probes = createProbes({ clock: systemClock, logger, host: "127.0.0.1", port: 0 });
const manager = createManager({ logger, clock: systemClock, probes, shutdownTimeoutMs: settings.shutdownTimeoutMs });
manager.add(cacheRunnable(seeds));
manager.add(elector);
manager.add(recorder);
manager.add(controllerRunnable(controller, { clock: systemClock, logger, metrics: silentRuntimeMetrics }));
void probes.whenReady?.(new AbortController().signal).then(() => say("probes", { port: probes.port }));
void elector.whenLeading(new AbortController().signal).then(() => say("leading"));

// The first thing after a pause is an attempt to write, before any timer of the elector has run.
process.on("SIGCONT", () => {
  leaveMark().catch((error: unknown) => say("log", { message: "write after the pause", error: String(error) }));
});
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => manager.stop());
let code = 0;
try {
  await manager.run(new AbortController().signal);
} catch (error) {
  code = error instanceof ForcedStopError ? 130 : 1;
  say("failed", { error: String(error) });
}
say("ended", { code });
process.exit(code);
