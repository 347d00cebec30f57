// The engine controllers as a process that kills or pauses itself at a chosen write, for tests of an operator that ends
// without a clean stop. Prints its writes as JSON lines on stdout, synchronously: the last line is never lost.
import { writeSync } from "node:fs";
import type { Logger } from "@firebolt-operator/kube";
import { loadKubeconfig } from "@firebolt-operator/kube/client";
import { buildEngineOperator } from "./engine-operator.ts";
import { parseOperatorProgramSettings } from "./program-settings.ts";
import type { WriteCall } from "./write-tap.ts";

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
/** Writes that began after the arming: the response to an earlier one may still arrive. */
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
const operator = await buildEngineOperator({
  config,
  namespaces: [namespace],
  logger,
  tap,
  fenced,
  ...(lease === undefined ? {} : { election: { namespace, identity, ...lease } }),
});
const never = new AbortController().signal;
void operator.synced(never).then(() => say("synced"));
void operator.elector?.whenLeading(never).then(() => say("leading"));
let code = 0;
try {
  await operator.manager.run(never);
} catch (error) {
  code = 1;
  say("failed", { error: String(error) });
}
process.exit(code);
