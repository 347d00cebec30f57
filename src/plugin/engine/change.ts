// The commands that change one engine with one patch: scale, stop, start, restart, wake. decide-change.ts decides the
// patch; --print-commands prints the one that would be sent.
import { isForbidden } from "@firebolt-operator/kube";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import { resolvePolicy } from "../../engine/auto-stop/policy.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { requireObject } from "../cluster/find-object.ts";
import { commandsText, FIELD_MANAGER, type KubectlCommand, kubectlArgs, secondsText } from "../cluster/kubectl.ts";
import { CommandError, EXIT, type ExitCode, UsageError } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import { waitForRest } from "../rollout/follow.ts";
import { rolloutProgress } from "../rollout/progress.ts";
import {
  type Change,
  type Decide,
  decideRestart,
  decideScale,
  decideStart,
  decideStop,
  decideWake,
  type KnownPolicy,
} from "./decide-change.ts";

type Patch = Extract<Change, { readonly type: "patch" }>;

/** Checked before the engine is read: the mistake does not depend on it. */
export const scaleEngine: Run = async (context) => {
  const wanted = context.flags.integer("replicas");
  if (wanted === undefined || wanted < 0) throw new UsageError("engine scale needs --replicas N, with N of 0 or more");
  return await change(context, decideScale, wanted);
};
export const startEngine: Run = async (context) => {
  const wanted = context.flags.integer("replicas");
  if (wanted !== undefined && wanted < 1)
    throw new UsageError(`--replicas=${wanted}: an engine is started with 1 replica or more`);
  return await change(context, decideStart, wanted);
};
export const stopEngine: Run = (context) => change(context, decideStop, undefined);
export const restartEngine: Run = (context) => change(context, decideRestart, undefined);
export const wakeEngine: Run = (context) => change(context, decideWake, undefined);

async function change(context: CommandContext, decide: Decide, wanted: number | undefined): Promise<ExitCode> {
  const { args, flags, terminal } = context;
  const [name = ""] = args;
  using cluster = await context.connect();
  const { client, namespace, call } = cluster;
  const engine = await requireObject(cluster, FireboltEngine, name);
  const decision = decide({
    engine,
    policy: await policyOf(cluster, engine),
    wanted,
    where: cluster,
    nowMs: context.clock.now(),
  });
  if (decision.type === "refused")
    throw new CommandError(`fireboltengine/${name} ${decision.because}`, EXIT[decision.exit]);
  if (flags.on("print-commands")) return printPatch(context, engine, decision);
  if (decision.type === "nothing") {
    terminal.line(`fireboltengine/${name} ${decision.because}`);
    return EXIT.ok;
  }
  for (const warning of decision.warnings) terminal.warn(warning);
  await client.patch(
    FireboltEngine,
    { namespace, name },
    { type: "merge", body: decision.patch },
    { ...call, fieldManager: FIELD_MANAGER },
  );
  terminal.line(`fireboltengine/${name} ${decision.done}`);
  if (!flags.on("wait")) return EXIT.ok;
  const { until } = decision;
  const rested = await waitForRest(cluster, { name, timeoutMs: flags.durationMs("timeout") ?? 0, terminal, until });
  terminal.line(`fireboltengine/${name} ${rolloutProgress(rested).text}`);
  return EXIT.ok;
}

/** Prints the patch that would be sent, and sends nothing. */
function printPatch(
  context: CommandContext,
  engine: FireboltEngine,
  decision: Exclude<Change, { readonly type: "refused" }>,
): ExitCode {
  const { flags, terminal } = context;
  const { name = "" } = engine.metadata ?? {};
  if (decision.type === "nothing") {
    terminal.line(`# fireboltengine/${name} ${decision.because}: there is nothing to do`);
    return EXIT.ok;
  }
  const args = kubectlArgs(
    flags,
    "patch",
    "fireboltengine",
    name,
    "--type=merge",
    `--field-manager=${FIELD_MANAGER}`,
    "-p",
    JSON.stringify(decision.patch),
  );
  const waits = flags.on("wait") ? waitCommands(context, engine, decision) : [];
  terminal.out(commandsText([{ comment: `${name} ${decision.done}`, args }, ...waits]));
  return EXIT.ok;
}

/**
 * Ready is that of the old generation at first, so the observed generation is waited for: the patch increments it by
 * one.
 */
function waitCommands(
  { flags }: CommandContext,
  { metadata }: FireboltEngine,
  { until, changesSpec }: Patch,
): readonly KubectlCommand[] {
  const timeout = `--timeout=${secondsText(flags.durationMs("timeout") ?? 0)}`;
  const wait = (comment: string, condition: string): KubectlCommand => ({
    comment,
    args: kubectlArgs(flags, "wait", `--for=${condition}`, `fireboltengine/${metadata?.name}`, timeout),
  });
  const confirmed = `jsonpath={.status.observedGeneration}=${(metadata?.generation ?? 0) + 1}`;
  return [
    ...(changesSpec ? [wait("wait until the new spec runs", confirmed)] : []),
    until === "stopped"
      ? wait("wait until it is stopped", "jsonpath={.status.phase}=stopped")
      : wait("wait until it serves", "condition=Ready"),
  ];
}

/** Classes belong to administrators: changing an engine must not require permission to read them. */
async function policyOf({ client, namespace, call }: Cluster, { spec }: FireboltEngine): Promise<KnownPolicy> {
  const known = (policy: ReturnType<typeof resolvePolicy>): KnownPolicy =>
    policy === undefined ? { type: "off" } : { type: "on", policy };
  const name = spec?.engineClassRef ?? "";
  // The engine's autoStop replaces that of its class as a whole.
  if (spec?.autoStop !== undefined || name === "") return known(resolvePolicy(spec?.autoStop, undefined));
  try {
    const found = await client.find(FireboltEngineClass, { namespace, name }, call);
    return known(resolvePolicy(undefined, found?.spec?.autoStop));
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return { type: "unknown", engineClass: name };
  }
}
