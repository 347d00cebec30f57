// `engine status` and `instance status`: one object with its conditions, last events and next step.

import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { Condition } from "../../api/schema/condition.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { nameOf, requireObject, requireOne } from "../cluster/find-object.ts";
import { commandsText, kubectlArgs } from "../cluster/kubectl.ts";
import { EXIT } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import { ageText } from "../terminal/age.ts";
import { dataText, isDataFormat } from "../terminal/output.ts";
import { oneLine } from "../terminal/printable.ts";
import type { Style } from "../terminal/style.ts";
import { renderTable } from "../terminal/table.ts";
import { autoStopPhrase } from "./auto-stop-phrase.ts";
import { viewEngine } from "./engine-view.ts";
import { type EventView, lastEvents } from "./events.ts";
import type { Explanation } from "./explain.ts";
import { type Notice, noticesOf, unreadableNotices } from "./notices.ts";
import { observeNotices } from "./observe-notices.ts";
import { observeEngine, observePlatform } from "./observe-platform.ts";
import { type PlatformView, viewPlatform, waitsForOperator } from "./platform-view.ts";
import { noticeLines, renderEngineTree, renderTree, waitLines } from "./render-tree.ts";

const EVENTS = 8;

export const engineStatus: Run = async (context) => {
  const [name = ""] = context.args;
  if (context.flags.on("print-commands")) return printDescribe(context, "fireboltengine", name);
  using cluster = await context.connect();
  const engine = await requireObject(cluster, FireboltEngine, name);
  const observed = await observeEngine(cluster, name);
  const own = observed === undefined ? undefined : viewEngine(engine, observed);
  const mine = new RegExp(`^${name}(-g\\d+(-.*)?|-service)?$`);
  const events = await lastEvents(cluster, (_, about) => mine.test(about), EVENTS);
  const conditions = engine.status?.conditions ?? [];
  const notices = [
    ...(await noticesFor(cluster, { instances: [], strayEngines: own === undefined ? [] : [own] })),
    ...unreadableNotices(observed?.unreadable),
  ];
  return print(context, { notices, engine: own, conditions, events }, (on) => [
    fields([
      ["Engine", `${cluster.namespace}/${name}`],
      ["Instance", own?.instance ?? ""],
      ["Class", own?.engineClass ?? "none"],
      ["Phase", own?.phase ?? ""],
      ["Replicas", String(own?.replicas ?? 0)],
      [
        "Generation",
        `active ${engine.status?.activeGeneration ?? "-"}, current ${engine.status?.currentGeneration ?? "-"}`,
      ],
      ["Spec", own?.upToDate === true ? "up to date" : "the last change is not running yet"],
      ["Auto-stop", autoStopPhrase(own?.autoStopReason) ?? "off"],
    ]),
    noticeText(notices, on),
    waitText(own?.waits, on),
    conditionTable(conditions, on),
    own === undefined || own.generations.length === 0
      ? ""
      : heading("Generations", renderEngineTree(own, { ...on, showNamespace: false, showPods: true }), on.style),
    eventTable(events, on),
  ]);
};

export const instanceStatus: Run = async (context) => {
  const [wanted] = context.args;
  if (context.flags.on("print-commands")) return printDescribe(context, "fireboltinstance", wanted);
  using cluster = await context.connect();
  const instance = await requireOne(cluster, FireboltInstance, wanted);
  const name = nameOf(instance);
  const observed = await observePlatform(cluster, cluster.namespace);
  const view = viewPlatform(observed);
  const own = view.instances.find((one) => one.name === name);
  const events = await lastEvents(cluster, (_, about) => isOfInstance(about, name), EVENTS);
  const { conditions = [], gatewayEndpoint, metadataEndpoint } = instance.status ?? {};
  const notices = [
    ...(await noticesFor(cluster, { instances: own === undefined ? [] : [own], strayEngines: [] })),
    ...unreadableNotices(observed.unreadable),
  ];
  return print(context, { notices, instance: own, conditions, events }, (on) => [
    fields([
      ["Instance", `${cluster.namespace}/${name}`],
      ["Id", instance.spec.id ?? ""],
      ["Phase", own?.phase ?? ""],
      ["Gateway", gatewayEndpoint ?? "not ready"],
      ["Metadata", metadataEndpoint ?? "not ready"],
    ]),
    noticeText(notices, on),
    waitText(own?.waits, on),
    conditionTable(conditions, on),
    own === undefined
      ? ""
      : heading(
          "Engines",
          renderTree({ instances: [own], strayEngines: [] }, { ...on, showNamespace: false, showPods: false }),
          on.style,
        ),
    eventTable(events, on),
  ]);
};

/** Names that start with the instance's own and end in one of the operator's. */
function isOfInstance(about: string, instance: string): boolean {
  return about === instance || new RegExp(`^${instance}-(metadata|gateway)(-.*)?$`).test(about);
}

interface On {
  readonly style: Style;
  readonly width: number | undefined;
  readonly nowMs: number;
}

async function print(context: CommandContext, data: object, text: (on: On) => readonly string[]) {
  const { flags, terminal, clock } = context;
  const format = flags.text("output");
  if (isDataFormat(format)) terminal.raw(await dataText(data, format));
  else
    terminal.out(
      text({ style: terminal.style, width: terminal.width, nowMs: clock.now() })
        .filter((part) => part !== "")
        .join("\n"),
    );
  return EXIT.ok;
}

function printDescribe({ flags, terminal }: CommandContext, kind: string, name: string | undefined) {
  const args = kubectlArgs(flags, "describe", kind, ...(name === undefined ? [] : [name]));
  terminal.out(commandsText([{ comment: "conditions and events", args }]));
  return EXIT.ok;
}

function fields(rows: readonly (readonly [string, string])[]): string {
  return rows.map(([label, value]) => `${`${label}:`.padEnd(12)} ${value === "" ? "-" : oneLine(value)}\n`).join("");
}

function waitText(waits: Explanation | undefined, on: On): string {
  return waitLines(waits, on)
    .map((line) => `${line}\n`)
    .join("");
}

function noticeText(notices: readonly Notice[], on: On): string {
  return noticeLines(notices, on)
    .map((line) => `${line}\n`)
    .join("");
}

async function noticesFor(cluster: Cluster, view: PlatformView): Promise<readonly Notice[]> {
  const about = await observeNotices(cluster, cluster.namespace);
  return noticesOf(about, { namespace: cluster.namespace, isWaiting: waitsForOperator(view) });
}

const heading = (title: string, body: string, style: Style): string => `${style.bold(`${title}:`)}\n${body}`;

function conditionTable(conditions: readonly Readonly<Condition>[], { style, width, nowMs }: On): string {
  if (conditions.length === 0) return "";
  const rows = conditions.map(({ type, status, reason, lastTransitionTime, message }) => [
    type,
    status === "True" ? style.green(status) : style.yellow(status),
    reason,
    ageText(lastTransitionTime, nowMs),
    message,
  ]);
  return heading(
    "Conditions",
    renderTable({ header: ["TYPE", "STATUS", "REASON", "SINCE", "MESSAGE"], rows }, width),
    style,
  );
}

function eventTable(events: readonly EventView[], { style, width, nowMs }: On): string {
  if (events.length === 0) return "";
  const rows = events.map((event) => [
    ageText(event.lastSeen, nowMs),
    event.type === "Warning" ? style.yellow(event.type) : event.type,
    event.reason,
    event.object,
    `${event.message}${event.count > 1 ? ` (x${event.count})` : ""}`,
  ]);
  return heading("Events", renderTable({ header: ["AGE", "TYPE", "REASON", "OBJECT", "MESSAGE"], rows }, width), style);
}
