// `status [instance]`: the whole tree, once or live.
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { LABEL } from "../../api/labels.ts";
import { pods, statefulSets } from "../../engine/cluster/kinds.ts";
import { changes } from "../cluster/changes.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { nameOf, namespaceOf, requireObject } from "../cluster/find-object.ts";
import { commandsText, kubectlArgs } from "../cluster/kubectl.ts";
import { CommandError, EXIT, UsageError } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import { createLiveScreen } from "../terminal/live-screen.ts";
import { dataText, isDataFormat } from "../terminal/output.ts";
import { isGatewayPod, observeGateways } from "./gateways/observe-gateways.ts";
import { gatewayCommands } from "./gateways/print-gateways.ts";
import { type Notice, noticesOf, unreadableNotices } from "./notices.ts";
import { observeNotices } from "./observe-notices.ts";
import { type ObservedPlatform, observePlatform } from "./observe-platform.ts";
import { type PlatformView, viewPlatform, waitsForOperator } from "./platform-view.ts";
import { noticeLines, renderTree } from "./render-tree.ts";

const REDRAW_MS = 2_000;
/** A time before every object: all ages are equal then. */
const LONG_AGO_MS = 0;

export const runStatus: Run = async (context) => {
  const { flags, terminal, args } = context;
  const [name] = args;
  const [format, everywhere] = [flags.text("output"), flags.on("all-namespaces")];
  if (name !== undefined && everywhere)
    throw new UsageError("name an instance or use -A, not both: an instance is looked up in one namespace");
  if (flags.on("watch") && isDataFormat(format))
    throw new UsageError("--watch cannot be combined with -o json or -o yaml: omit -o");
  if (flags.on("print-commands")) {
    terminal.out(commandsText([...equivalents(context), ...(await gatewayCommands(context))]));
    return EXIT.ok;
  }
  using cluster = await context.connect();
  if (name !== undefined) await requireObject(cluster, FireboltInstance, name);
  const namespace = everywhere ? undefined : cluster.namespace;
  if (flags.on("watch")) return await watchTree(context, cluster, namespace);
  const view = await readView(cluster, { ...shownBy(context, namespace), mustExist: true });
  if (isDataFormat(format)) terminal.raw(await dataText(view, format));
  else terminal.out(treeText(context, view, { namespace, nowMs: context.clock.now() }));
  return EXIT.ok;
};

async function watchTree(context: CommandContext, cluster: Cluster, namespace: string | undefined) {
  const { terminal, signal } = context;
  using screen = createLiveScreen(terminal);
  const kinds = [
    { type: FireboltInstance, scope: { namespace } },
    { type: FireboltEngine, scope: { namespace } },
    { type: statefulSets, scope: { namespace, labelSelector: LABEL.engine } },
    { type: pods, scope: { namespace, labelSelector: LABEL.engine } },
    { type: pods, scope: { namespace, labelSelector: LABEL.instance } },
  ];
  for await (const _ of changes(cluster, { kinds, everyMs: REDRAW_MS, signal })) {
    const view = await readView(cluster, shownBy(context, namespace));
    screen.show(
      treeText(context, view, { namespace, nowMs: context.clock.now() }),
      treeText(context, view, { namespace, nowMs: LONG_AGO_MS }),
    );
  }
  return EXIT.ok;
}

type StatusView = PlatformView & { readonly notices: readonly Notice[] };

/** What is to be shown. */
interface Shown {
  /** Undefined: all of them. */
  readonly namespace: string | undefined;
  /** One instance; undefined: all of them. */
  readonly name: string | undefined;
  readonly withGateways: boolean;
  /** The namespace must exist. */
  readonly mustExist?: boolean;
}

const shownBy = ({ args, flags }: CommandContext, namespace: string | undefined): Shown => ({
  namespace,
  name: args[0],
  withGateways: flags.on("gateways"),
});

async function readView(cluster: Cluster, shown: Shown): Promise<StatusView> {
  const { namespace, name, mustExist = false } = shown;
  const [observed, about] = await Promise.all([observeShown(cluster, shown), observeNotices(cluster, namespace)]);
  const all = viewPlatform(observed);
  const view =
    name === undefined ? all : { instances: all.instances.filter((one) => one.name === name), strayEngines: [] };
  const notices = noticesOf(about, { namespace, isWaiting: waitsForOperator(view) });
  // With --watch it may be created later.
  if (mustExist && about.missing !== undefined)
    throw new CommandError(notices.map(({ why, next }) => `${why}; ${next}`).join("\n"), EXIT.notFound);
  return { notices: [...notices, ...unreadableNotices(observed.unreadable)], ...view };
}

/** Pods of instances that are not shown are not read. */
async function observeShown(cluster: Cluster, { namespace, name, withGateways }: Shown): Promise<ObservedPlatform> {
  const observed = await observePlatform(cluster, namespace);
  if (!withGateways) return observed;
  const instances = observed.instances.filter((one) => name === undefined || nameOf(one) === name);
  const known = new Set(instances.map((one) => `${namespaceOf(one)}/${nameOf(one)}`));
  const gateways = observed.instancePods.filter(
    (pod) => isGatewayPod(pod) && known.has(`${namespaceOf(pod)}/${pod.metadata?.labels?.[LABEL.instance]}`),
  );
  return { ...observed, gateways: await observeGateways(cluster, gateways) };
}

interface TreeOf {
  readonly namespace: string | undefined;
  readonly nowMs: number;
}

function treeText({ flags, terminal }: CommandContext, view: StatusView, { namespace, nowMs }: TreeOf): string {
  const { style, width } = terminal;
  const notices = noticeLines(view.notices, { style, width });
  const above = notices.length === 0 ? "" : `${notices.join("\n")}\n\n`;
  if (view.instances.length === 0 && view.strayEngines.length === 0)
    return `${above}No Firebolt resources found ${namespace === undefined ? "in this cluster" : `in namespace ${namespace}. Use -A to search all namespaces`}.\n`;
  const shows = { showNamespace: namespace === undefined, showPods: !flags.on("no-pods") };
  return `${above}${renderTree(view, { style, width, nowMs, ...shows })}`;
}

function equivalents({ flags }: CommandContext) {
  const all = flags.on("all-namespaces") ? ["-A"] : [];
  return [
    {
      comment: "instances and engines",
      args: [...kubectlArgs(flags, "get", "fireboltinstance,fireboltengine"), ...all],
    },
    {
      comment: "generations and their pods",
      args: [...kubectlArgs(flags, "get", "statefulset,pod", "-l", LABEL.engine), ...all],
    },
    {
      comment: "components of the instances",
      args: [...kubectlArgs(flags, "get", "deployment,statefulset,pod", "-l", LABEL.instance), ...all],
    },
  ];
}
