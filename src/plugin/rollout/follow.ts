// An engine as it moves: its view again after every change, until the caller has seen enough.
import { FireboltEngine } from "../../api/engine.ts";
import { LABEL } from "../../api/labels.ts";
import { pods, statefulSets } from "../../engine/kinds.ts";
import { changes } from "../changes.ts";
import type { Cluster } from "../cluster.ts";
import { startDeadline } from "../deadline.ts";
import { CommandError, EXIT } from "../exit-codes.ts";
import { type EngineView, viewEngine } from "../status/engine-view.ts";
import { observeEngine } from "../status/observe-platform.ts";
import { spanText } from "../terminal/age.ts";
import { renderBar } from "../terminal/progress-bar.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type RolloutProgress, rolloutProgress } from "./progress.ts";

const TICK_MS = 1_000;

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
  /** Serving: being stopped is not the end. */
  readonly until?: "at rest" | "serving";
  /** Added to the message when time is up. */
  readonly hint?: string;
}

/** Waits until the engine rests as its spec asks for. Progress is drawn on stderr, where somebody watches it. */
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
      if (last.state === "done" && (until === "at rest" || engine.phase === "stable")) return engine;
    }
  } finally {
    if (terminal.progress) terminal.err("\r\u001b[K");
  }
  if (signal.aborted) throw signal.reason;
  throw new CommandError(
    `${name} has not come to rest within ${spanText(timeoutMs)}: ${last?.text ?? "nothing was seen of it"}${hint}`,
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
  const cut = text.length > room ? `${text.slice(0, room - 1)}…` : text;
  err(`\r\u001b[K${name} ${renderBar(share, { style: errorStyle, state })}  ${cut}`);
}
