// Where people look for the cause of a fault: conditions, events, and the tree of `kubectl firebolt status`. Reads only.
import { systemClock } from "@firebolt-operator/kube";
import { eventResource, type KubeEvent } from "@firebolt-operator/kube/events";
import { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../../src/api/firebolt-instance/instance.ts";
import type { Condition } from "../../../src/api/schema/condition.ts";
import { connect } from "../../../src/plugin/cluster/cluster.ts";
import { parseCommandLine } from "../../../src/plugin/command-line/command-line.ts";
import { COMMANDS, GROUPS } from "../../../src/plugin/commands/command-table.ts";
import { createTerminal } from "../../../src/plugin/terminal/terminal.ts";
import type { Scene, Signs } from "./fault.ts";

/** One look, in the words that people read. */
export interface Seen {
  readonly condition: string;
  readonly event: string;
  readonly kubernetes: string;
  readonly status: string;
  readonly refusal: string;
}

/** Faults of one namespace share a run of the plugin that is not older than this. */
const FRESH_MS = 700;
const LOOK_MS = 60_000;

export type Subject = "engine" | "instance";

/** Where to look. */
export interface View {
  readonly subject: Subject;
  /** When the fault was made, as a date. */
  readonly sinceMs?: number;
  readonly refusal?: string;
}

export async function look(scene: Scene, { subject, sinceMs = 0, refusal = "" }: View): Promise<Seen> {
  const [condition, events, status] = await Promise.all([
    conditionLines(scene, subject),
    eventsOf(scene),
    statusTree(scene),
  ]);
  return {
    condition,
    event: eventLines(events, scene, subject),
    kubernetes: kubernetesLines(events, sinceMs),
    status,
    refusal,
  };
}

/** The signs that are not there, each with where it was looked for. */
export function missingSigns(signs: Signs, seen: Seen, only = SIGNS): readonly string[] {
  return only.flatMap((sign) => {
    const pattern = signs[sign];
    return pattern === undefined || pattern.test(seen[sign]) ? [] : [`${sign} like ${pattern}`];
  });
}

const SIGNS: readonly (keyof Signs)[] = ["condition", "event", "kubernetes", "status", "refusal"];
/** Disappears with the fault. Events and rejected requests stay. */
export const PASSING: readonly (keyof Signs)[] = ["condition", "status"];

export const showSeen = ({ condition, event, kubernetes, status, refusal }: Seen): string =>
  [
    `conditions:\n${condition}`,
    `events:\n${event}`,
    `events of Kubernetes:\n${kubernetes}`,
    `kubectl firebolt status:\n${status}`,
    ...(refusal === "" ? [] : [`refusal:\n${refusal}`]),
  ].join("\n");

async function conditionLines(scene: Scene, subject: Subject): Promise<string> {
  const { client, call } = scene.cluster;
  const key = { namespace: scene.namespace, name: subject === "engine" ? scene.engine : scene.instance };
  const found =
    subject === "engine"
      ? await client.find(FireboltEngine, key, call)
      : await client.find(FireboltInstance, key, call);
  if (found === undefined) return `(no ${subject} ${key.name})`;
  return (found.status?.conditions ?? []).map(conditionLine).join("\n");
}

const conditionLine = ({ type, status, reason, message }: Condition): string =>
  `${type}=${status} ${reason}: ${message}`;

async function eventsOf({ cluster, namespace }: Scene): Promise<readonly KubeEvent[]> {
  return (await cluster.client.listAll(eventResource, { ...cluster.call, namespace })).items;
}

function eventLines(events: readonly KubeEvent[], { engine, instance }: Scene, subject: Subject): string {
  const kind = subject === "engine" ? "FireboltEngine" : "FireboltInstance";
  const name = subject === "engine" ? engine : instance;
  return events
    .filter(({ regarding }) => regarding?.kind === kind && regarding.name === name)
    .toSorted((one, other) => ((one.eventTime ?? "") < (other.eventTime ?? "") ? -1 : 1))
    .map(({ type, reason, note }) => `${type} ${reason}: ${note}`)
    .join("\n");
}

/** Their times are whole seconds. */
const SECOND_MS = 1_000;

function kubernetesLines(events: readonly KubeEvent[], sinceMs: number): string {
  const createdMs = ({ metadata }: KubeEvent): number => Date.parse(metadata?.creationTimestamp ?? "");
  return events
    .filter(({ regarding }) => regarding?.kind.startsWith("Firebolt") === false)
    .filter((event) => createdMs(event) > sinceMs - SECOND_MS)
    .map(({ type, reason, note, regarding }) => `${type} ${reason} ${regarding?.kind} ${regarding?.name}: ${note}`)
    .join("\n");
}

interface Tree {
  readonly takenMs: number;
  readonly text: Promise<string>;
}
const trees = new Map<string, Tree>();

function statusTree({ context: { kubeconfig }, namespace }: Scene): Promise<string> {
  const known = trees.get(namespace);
  if (known !== undefined && performance.now() - known.takenMs < FRESH_MS) return known.text;
  const text = runPluginHere(["-n", namespace, "status"], kubeconfig);
  trees.set(namespace, { takenMs: performance.now(), text });
  return text;
}

/** The plugin's own commands, in this process: dozens of runs per second would be too much for processes. */
async function runPluginHere(argv: readonly string[], kubeconfig: string): Promise<string> {
  let printed = "";
  const stream = {
    write: (text: string) => {
      printed += text;
    },
  };
  const env = { TERM: "dumb", KUBECONFIG: kubeconfig };
  const parsed = parseCommandLine(COMMANDS, GROUPS, argv);
  if (parsed.type !== "run") throw new Error(`no command: ${argv.join(" ")}`);
  const { command, args, flags } = parsed;
  const execute = await command.load();
  const signal = AbortSignal.timeout(LOOK_MS);
  const terminal = createTerminal(stream, stream, env);
  await execute({
    commands: COMMANDS,
    args,
    flags,
    terminal,
    env,
    signal,
    clock: systemClock,
    connect: () => connect({ flags, env, signal }),
  });
  return printed;
}
