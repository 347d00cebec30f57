// The commands that change one engine by one small patch: scale, stop, start, restart, wake. The patch that is sent is the patch
// that --print-commands prints.
import { timeText } from "../../api/condition-list.ts";
import { FireboltEngine } from "../../api/engine.ts";
import { FireboltEngineClass } from "../../api/engine-class.ts";
import { ANNOTATION } from "../../api/labels.ts";
import { type AutoStopPolicy, resolvePolicy } from "../../engine/auto-stop/policy.ts";
import type { Cluster } from "../cluster.ts";
import type { CommandContext, Run } from "../command.ts";
import { EXIT, type ExitCode, UsageError } from "../exit-codes.ts";
import { requireObject } from "../find-object.ts";
import { commandsText, FIELD_MANAGER, type KubectlCommand, kubectlArgs, secondsText } from "../kubectl.ts";
import { waitForRest } from "../rollout/follow.ts";
import { rolloutProgress } from "../rollout/progress.ts";

/** What `stop` leaves for `start`: the number of nodes there were. */
export const REPLICAS_BEFORE_STOP = "kubectl.firebolt.io/replicas-before-stop";
const RESTARTED_AT = "kubectl.kubernetes.io/restartedAt";

type Change =
  | {
      readonly type: "patch";
      readonly patch: object;
      readonly done: string;
      /** How many nodes there are when it is done; undefined where the patch changes annotations alone. */
      readonly replicas: number | undefined;
    }
  | { readonly type: "nothing"; readonly because: string };

interface Facts {
  readonly engine: FireboltEngine;
  readonly policy: AutoStopPolicy | undefined;
}

type Decide = (facts: Facts, context: CommandContext) => Change;

const scale = (replicas: number, annotation: string | null | undefined, done: string): Change => ({
  type: "patch",
  patch: {
    ...(annotation === undefined ? {} : { metadata: { annotations: { [REPLICAS_BEFORE_STOP]: annotation } } }),
    spec: { replicas },
  },
  done,
  replicas,
});

const decideScale: Decide = ({ engine }, context) => {
  const wanted = wantedReplicas(context);
  const now = engine.spec?.replicas ?? 0;
  return wanted === now
    ? { type: "nothing", because: `has ${now} replicas already` }
    : scale(wanted, undefined, `scaled from ${now} to ${wanted} replicas`);
};

function wantedReplicas({ flags }: CommandContext): number {
  const wanted = flags.integer("replicas");
  if (wanted === undefined || wanted < 0) throw new UsageError("engine scale needs --replicas N, with N of 0 or more");
  return wanted;
}

const decideStop: Decide = ({ engine }) => {
  const now = engine.spec?.replicas ?? 0;
  return now === 0
    ? { type: "nothing", because: "is stopped already" }
    : scale(0, String(now), `stopped (it had ${now} replicas)`);
};

const decideStart: Decide = ({ engine, policy }, { flags }) => {
  const now = engine.spec?.replicas ?? 0;
  if (now > 0) return { type: "nothing", because: `runs already, with ${now} replicas` };
  const remembered = Number(engine.metadata?.annotations?.[REPLICAS_BEFORE_STOP] ?? "");
  const wanted = flags.integer("replicas") ?? (remembered > 0 ? remembered : (policy?.activeReplicas ?? 1));
  if (wanted < 1) throw new UsageError(`--replicas=${wanted}: an engine is started with 1 or more`);
  return scale(wanted, null, `started with ${wanted} replicas`);
};

const decideRestart: Decide = ({ engine }) => ({
  type: "patch",
  patch: { spec: { template: { metadata: { annotations: { [RESTARTED_AT]: timeText(Date.now()) } } } } },
  done: "restarts: a new generation takes over",
  replicas: engine.spec?.replicas ?? 0,
});

const decideWake: Decide = () => ({
  type: "patch",
  patch: { metadata: { annotations: { [ANNOTATION.wakeRequested]: timeText(Date.now()) } } },
  done: "asked to wake",
  replicas: undefined,
});

export const scaleEngine: Run = async (context) => {
  // A command line that is wrong is wrong for every engine.
  wantedReplicas(context);
  return await change(context, decideScale);
};
export const stopEngine: Run = (context) => change(context, decideStop);
export const startEngine: Run = (context) => change(context, decideStart);
export const restartEngine: Run = (context) => change(context, decideRestart);
export const wakeEngine: Run = (context) => change(context, decideWake);

async function change(context: CommandContext, decide: Decide): Promise<ExitCode> {
  const { args, flags, terminal } = context;
  const [name = ""] = args;
  using cluster = await context.connect();
  const { client, namespace, call } = cluster;
  const engine = await requireObject(cluster, FireboltEngine, name);
  const policy = await policyOf(cluster, engine);
  const decision = decide({ engine, policy }, context);
  if (flags.on("print-commands")) return printPatch(context, engine, decision);
  if (decision.type === "nothing") {
    terminal.line(`fireboltengine/${name} ${decision.because}`);
    return EXIT.ok;
  }
  for (const warning of warningsOf(decide, policy, engine)) terminal.warn(warning);
  await client.patch(
    FireboltEngine,
    { namespace, name },
    { type: "merge", body: decision.patch },
    { ...call, fieldManager: FIELD_MANAGER },
  );
  terminal.line(`fireboltengine/${name} ${decision.done}`);
  if (!flags.on("wait")) return EXIT.ok;
  // An engine that is asked to wake rests already, until the operator has read the request.
  const until = decision.replicas === undefined ? "serving" : "at rest";
  const rested = await waitForRest(cluster, { name, timeoutMs: flags.durationMs("timeout") ?? 0, terminal, until });
  terminal.line(`fireboltengine/${name} ${rolloutProgress(rested).text}`);
  return EXIT.ok;
}

/** Reads only: nothing is printed that would not be sent. */
function printPatch(context: CommandContext, engine: FireboltEngine, decision: Change): ExitCode {
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
  const waits = flags.on("wait") ? waitCommands(context, engine, decision.replicas) : [];
  terminal.out(commandsText([{ comment: `${name} ${decision.done}`, args }, ...waits]));
  return EXIT.ok;
}

/** Ready is still that of the old generation at first, so the spec is waited for: one change counts its version up by one. */
function waitCommands(
  { flags }: CommandContext,
  { metadata }: FireboltEngine,
  replicas: number | undefined,
): readonly KubectlCommand[] {
  const timeout = `--timeout=${secondsText(flags.durationMs("timeout") ?? 0)}`;
  const wait = (comment: string, condition: string): KubectlCommand => ({
    comment,
    args: kubectlArgs(flags, "wait", `--for=${condition}`, `fireboltengine/${metadata?.name}`, timeout),
  });
  const confirmed = `jsonpath={.status.observedGeneration}=${(metadata?.generation ?? 0) + 1}`;
  return [
    ...(replicas === undefined ? [] : [wait("wait until the new spec runs", confirmed)]),
    ...(replicas === 0 ? [] : [wait("wait until it serves", "condition=Ready")]),
  ];
}

async function policyOf(
  { client, namespace, call }: Cluster,
  { spec }: FireboltEngine,
): Promise<AutoStopPolicy | undefined> {
  const name = spec?.engineClassRef;
  const found =
    name === undefined || name === "" ? undefined : await client.find(FireboltEngineClass, { namespace, name }, call);
  return resolvePolicy(spec?.autoStop, found?.spec?.autoStop);
}

function warningsOf(decide: Decide, policy: AutoStopPolicy | undefined, engine: FireboltEngine): readonly string[] {
  if (decide === decideWake && policy === undefined)
    return ["auto-stop is off for this engine, so nobody acts on a wake request: use kubectl firebolt engine start"];
  if (decide === decideWake && (engine.spec?.replicas ?? 0) > 0)
    return ["the engine is not stopped: the request keeps it awake"];
  const scales = decide === decideScale || decide === decideStop || decide === decideStart;
  return scales && policy !== undefined ? ["auto-stop is on for this engine and may change its replicas again"] : [];
}
