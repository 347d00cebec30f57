// `engine delete`: deletes an engine and waits until it is deleted. Succeeds if it does not exist.
import { isNotFound } from "@firebolt-operator/kube";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { changes } from "../cluster/changes.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { startDeadline } from "../cluster/deadline.ts";
import { whereElse } from "../cluster/find-object.ts";
import { commandsText, kubectlArgs, secondsText } from "../cluster/kubectl.ts";
import { CommandError, EXIT } from "../command-line/exit-codes.ts";
import type { Run } from "../commands/command.ts";
import { ownCommand } from "../own-command.ts";
import { spanText } from "../terminal/age.ts";

const LOOK_MS = 1_000;
/** Omitted from the printed command: kubectl itself waits without a limit. */
const DEFAULT_TIMEOUT_MS = 300_000;

export const deleteEngine: Run = async (context) => {
  const { args, flags, terminal } = context;
  const [name = ""] = args;
  const timeoutMs = flags.durationMs("timeout") ?? 0;
  if (flags.on("print-commands")) {
    const limit = timeoutMs === DEFAULT_TIMEOUT_MS ? [] : [`--timeout=${secondsText(timeoutMs)}`];
    const wait = flags.on("wait") ? limit : ["--wait=false"];
    const args = kubectlArgs(flags, "delete", "fireboltengine", name, "--ignore-not-found", ...wait);
    terminal.out(commandsText([{ comment: `delete the engine ${name}`, args }]));
    return EXIT.ok;
  }
  using cluster = await context.connect();
  const { client, namespace, call } = cluster;
  try {
    const result = await client.delete(FireboltEngine, { namespace, name }, call);
    if (result.type === "terminating" && flags.on("wait"))
      await untilGone(cluster, name, { uid: result.object.metadata?.uid, timeoutMs });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const hint = await whereElse(cluster, FireboltEngine, name);
    terminal.line(`fireboltengine/${name} not found in namespace ${namespace}; nothing to delete${hint}`);
    return EXIT.ok;
  }
  terminal.line(`fireboltengine.compute.firebolt.io ${JSON.stringify(name)} deleted`);
  return EXIT.ok;
};

interface Gone {
  readonly uid: string | undefined;
  readonly timeoutMs: number;
}

async function untilGone(cluster: Cluster, name: string, { uid, timeoutMs }: Gone): Promise<void> {
  const { client, namespace, call } = cluster;
  using deadline = startDeadline(call.signal, timeoutMs);
  const kinds = [{ type: FireboltEngine, scope: { namespace } }];
  // Polled as well: no watch reports a deletion that happened before it was opened.
  for await (const _ of changes(cluster, { kinds, everyMs: LOOK_MS, signal: deadline.signal })) {
    const found = await client.find(FireboltEngine, { namespace, name }, call);
    if (found === undefined || found.metadata?.uid !== uid) return;
  }
  if (call.signal.aborted) throw call.signal.reason;
  throw new CommandError(
    `FireboltEngine ${JSON.stringify(name)} is still being deleted after ${spanText(timeoutMs)}; see: ${ownCommand(cluster, ["engine", "status", name])}`,
    EXIT.notYet,
  );
}
