// `rollout status <engine>`: the progress of a rollout; with --watch a progress bar until it is complete.

import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { limitMs, startDeadline } from "../cluster/deadline.ts";
import { requireObject } from "../cluster/find-object.ts";
import { commandsText, kubectlArgs, secondsText } from "../cluster/kubectl.ts";
import { CommandError, EXIT } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import type { EngineView } from "../status/engine-view.ts";
import { spanText } from "../terminal/age.ts";
import { createLiveScreen } from "../terminal/live-screen.ts";
import { dataText, isDataFormat } from "../terminal/output.ts";
import { renderBar } from "../terminal/progress-bar.ts";
import { followEngine, readEngine } from "./follow.ts";
import { type RolloutProgress, rolloutProgress } from "./progress.ts";

export const rolloutStatus: Run = async (context) => {
  const { args, flags, terminal } = context;
  const [name = ""] = args;
  if (flags.on("print-commands")) {
    const wait = kubectlArgs(flags, "wait", "--for=condition=Ready", `fireboltengine/${name}`, waitLimit(context));
    terminal.out(commandsText([{ comment: "whether the engine is ready", args: wait }]));
    return EXIT.ok;
  }
  using cluster = await context.connect();
  await requireObject(cluster, FireboltEngine, name);
  if (!flags.on("watch")) return once(context, await readEngine(cluster, name));
  const timeoutMs = flags.durationMs("timeout") ?? 0;
  using deadline = startDeadline(context.signal, limitMs(timeoutMs));
  using screen = createLiveScreen(terminal);
  let last: RolloutProgress | undefined;
  for await (const engine of followEngine(cluster, name, deadline.signal)) {
    last = rolloutProgress(engine);
    screen.show(progressText(context, engine, last));
    if (last.state === "done") return EXIT.ok;
  }
  if (context.signal.aborted) return EXIT.interrupted;
  throw new CommandError(
    `timed out after ${spanText(timeoutMs)} waiting for the rollout of ${name}: ${last?.text ?? "its status was never read"}`,
    EXIT.notYet,
  );
};

/** kubectl checks once with 0 and has no limit with a negative timeout. */
function waitLimit({ flags }: CommandContext): string {
  if (!flags.on("watch")) return "--timeout=0s";
  const timeoutMs = flags.durationMs("timeout") ?? 0;
  return `--timeout=${timeoutMs === 0 ? "-1s" : secondsText(timeoutMs)}`;
}

async function once(context: CommandContext, engine: EngineView) {
  const { flags, terminal } = context;
  const progress = rolloutProgress(engine);
  const format = flags.text("output");
  const done = progress.state === "done";
  if (isDataFormat(format)) {
    const { namespace, name, phase } = engine;
    const waits = engine.waits ?? null;
    terminal.raw(
      await dataText({ namespace, name, phase, done, ...progress, waits, generations: engine.generations }, format),
    );
  } else terminal.out(progressText(context, engine, progress));
  return done ? EXIT.ok : EXIT.notYet;
}

/** A bar on a terminal, a line per change elsewhere. */
function progressText({ terminal }: CommandContext, engine: EngineView, progress: RolloutProgress): string {
  const { style, interactive } = terminal;
  const { share, state, text } = progress;
  const phase = (engine.phase || "new").padEnd(9);
  if (!interactive) return `${engine.name}: ${phase.trim()}: ${text}\n`;
  const next =
    state === "stuck" && engine.waits?.next !== undefined ? `\n${style.dim("next:")}  ${engine.waits.next}` : "";
  return `${style.bold(engine.name)}  ${phase} ${renderBar(share, { style, state })}  ${text}${next}\n`;
}
