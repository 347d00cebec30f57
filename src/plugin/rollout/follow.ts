// The view of an engine after every change.
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { LABEL } from "../../api/labels.ts";
import { pods, statefulSets } from "../../engine/cluster/kinds.ts";
import { changes } from "../cluster/changes.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { startDeadline } from "../cluster/deadline.ts";
import { CommandError, EXIT } from "../command-line/exit-codes.ts";
import { ownCommand } from "../own-command.ts";
import { type EngineView, viewEngine } from "../status/engine-view.ts";
import { noticesOf } from "../status/notices.ts";
import { observeNotices } from "../status/observe-notices.ts";
import { observeEngine } from "../status/observe-platform.ts";
import { spanText } from "../terminal/age.ts";
import { replicasText } from "../terminal/count.ts";
import { control, oneLine } from "../terminal/printable.ts";
import { renderBar } from "../terminal/progress-bar.ts";
import { cutVisible } from "../terminal/style.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type RolloutProgress, rolloutProgress } from "./progress.ts";

const TICK_MS = 1_000;
const CLEAR_LINE = control("[G") + control("[K");

export async function* followEngine(cluster: Cluster, name: string, signal: AbortSignal): AsyncGenerator<EngineView> {
  const { namespace } = cluster;
  const labelSelector = `${LABEL.engine}=${name}`;
  const kinds = [
    { type: FireboltEngine, scope: { namespace } },
    { type: statefulSets, scope: { namespace, labelSelector } },
    { type: pods, scope: { namespace, labelSelector } },
  ];
  for await (const _ of changes(cluster, { kinds, everyMs: TICK_MS, signal })) yield await readEngine(cluster, name);
}

export async function readEngine(cluster: Cluster, name: string): Promise<EngineView> {
  const observed = await observeEngine(cluster, name);
  const [engine] = observed?.engines ?? [];
  if (observed === undefined || engine === undefined)
    throw new CommandError(
      `FireboltEngine ${JSON.stringify(name)} not found in namespace ${JSON.stringify(cluster.namespace)}`,
      EXIT.notFound,
    );
  return viewEngine(engine, observed);
}

export interface WaitOptions {
  readonly name: string;
  readonly timeoutMs: number;
  readonly terminal: Terminal;
  /** `serving`: keep waiting while it is stopped. `stopped`: serving is a failure. */
  readonly until?: "at rest" | "serving" | "stopped";
  /** Appended to the message on a timeout. */
  readonly hint?: string;
}

/** Waits until the engine is at rest in its desired state. Progress is drawn on stderr if that is a terminal. */
export async function waitForRest(
  cluster: Cluster,
  { name, timeoutMs, terminal, until = "at rest", hint = "" }: WaitOptions,
): Promise<EngineView> {
  using deadline = startDeadline(cluster.call.signal, timeoutMs);
  const { signal } = cluster.call;
  let last: RolloutProgress | undefined;
  try {
    for await (const engine of followEngine(cluster, name, deadline.signal)) {
      last = rolloutProgress(engine);
      drawLine(terminal, name, last);
      if (last.state !== "done") continue;
      if (until === "stopped" && engine.replicas > 0) throw startedAgain(cluster, engine);
      if (until === "at rest" || engine.phase === (until === "serving" ? "stable" : "stopped")) return engine;
    }
  } finally {
    if (terminal.progress) terminal.err(CLEAR_LINE);
  }
  if (signal.aborted) throw signal.reason;
  const notices = noticesOf(await observeNotices(cluster, cluster.namespace), {
    namespace: cluster.namespace,
    isWaiting: false,
  });
  const beyond = notices.map(({ why, next }) => `\n${why}; next: ${next}`).join("");
  throw new CommandError(
    `timed out after ${spanText(timeoutMs)} waiting for ${name} to ${BECOME[until]}: ${last?.text ?? "its status was never read"}${beyond}${hint}`,
    EXIT.notYet,
  );
}

const BECOME = { "at rest": "become ready", serving: "become ready", stopped: "stop" } as const;

/** Why auto-stop starts an engine. */
const STARTS: ReadonlySet<string> = new Set(["WakeRequested", "ScheduleActive"]);

/** Another client, most likely auto-stop, has set replicas since. */
function startedAgain(cluster: Cluster, { name, replicas, autoStopReason }: EngineView): CommandError {
  const why = autoStopReason !== undefined && STARTS.has(autoStopReason) ? ` (auto-stop: ${autoStopReason})` : "";
  return new CommandError(
    `${name} is not stopped: it was started again with ${replicasText(replicas)}${why}; see: ${ownCommand(cluster, ["engine", "status", name])}`,
    EXIT.notYet,
  );
}

function drawLine(
  { progress, err, errorStyle, columns }: Terminal,
  name: string,
  { share, state, text }: RolloutProgress,
): void {
  if (!progress) return;
  const room = Math.max(10, columns - name.length - 36);
  const cut = cutVisible(oneLine(text), room);
  err(`${CLEAR_LINE}${name} ${renderBar(share, { style: errorStyle, state })}  ${cut}`);
}
