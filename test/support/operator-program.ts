// The engine controllers as a program of their own that ends or stops itself at a chosen write, for tests that need the operator to
// be killed rather than asked to stop. Says what it writes as JSON lines on stdout, synchronously: the last line is never lost.
import { writeSync } from "node:fs";
import { type Logger, systemClock } from "@firebolt-operator/kube";
import { createKubeClient, loadKubeconfig } from "@firebolt-operator/kube/client";
import { createLeaderElector, leaseStore } from "@firebolt-operator/kube/election";
import { silentRuntimeMetrics } from "@firebolt-operator/kube/metrics";
import { buildEngineOperator } from "./operator-engine.ts";
import { parseOperatorProgramSettings } from "./operator-program-settings.ts";
import type { WriteCall } from "./operator-writes.ts";

const say = (event: string, fields: object = {}): void => {
  writeSync(1, `${JSON.stringify({ event, ...fields })}\n`);
};

const logger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  error: (message, error) => say("error", { message, error: String(error) }),
  with: () => logger,
};

const settings = parseOperatorProgramSettings(process.argv[2] ?? "");
const { namespace, identity, fault, lease, fenced } = settings;
let armed = settings.countFrom === "start";
let writes = 0;
/** Calls that began after the arming: the answer to one before it may still be on its way. */
const counted = new Set<number>();

const end = (): never => {
  say("killed");
  process.kill(process.pid, "SIGKILL");
  // Nothing of this process may run any more, not even until the signal arrives.
  for (;;);
};

const tap = {
  before({ text, number }: WriteCall) {
    if (!armed) return;
    counted.add(number);
    if (fault?.type === "kill" && fault.at === 0) end();
    if (fault?.type === "pause" && fault.at === writes + 1) {
      armed = false;
      say("pausing", { before: text });
      process.kill(process.pid, "SIGSTOP");
      say("resumed");
    }
  },
  accepted({ text, number }: WriteCall) {
    if (!armed || !counted.has(number)) return;
    writes += 1;
    say("write", { text, number: writes });
    if (fault?.type === "kill" && fault.at === writes) end();
  },
};

process.on("SIGUSR2", () => {
  armed = true;
  writes = 0;
  say("armed");
});

const config = await loadKubeconfig({ path: settings.kubeconfig, env: {}, homeDir: "/nonexistent" });
const elector =
  lease === undefined
    ? undefined
    : createLeaderElector({
        store: leaseStore(createKubeClient({ config }), { namespace, name: lease.name }),
        timing: lease.timing,
        clock: systemClock,
        logger,
        metrics: silentRuntimeMetrics,
        identity,
      });
const operator = buildEngineOperator({
  config,
  namespaces: [namespace],
  logger,
  tap,
  fenced,
  ...(elector === undefined ? {} : { elector }),
});
const never = new AbortController().signal;
void operator.synced(never).then(() => say("synced"));
void elector?.whenLeading(never).then(() => say("leading"));
let code = 0;
try {
  await operator.manager.run(never);
} catch (error) {
  code = 1;
  say("failed", { error: String(error) });
}
process.exit(code);
