// `instance list`, `engine list` and `class list`: the same command with three sets of columns.
import type { KubeObject, ResourceType } from "@firebolt-operator/kube";
import { findCondition } from "../../api/condition-list.ts";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { Condition } from "../../api/schema/condition.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { listObjects, nameOf, namespaceOf, type Scope } from "../cluster/find-object.ts";
import { commandsText, kubectlArgs } from "../cluster/kubectl.ts";
import { watchKind } from "../cluster/watch-kind.ts";
import { EXIT, UsageError } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import { dataText, isDataFormat, listObject } from "../terminal/output.ts";
import { columnWidths, renderRow, renderTable, type Table } from "../terminal/table.ts";

interface Column<T> {
  readonly title: string;
  readonly wide?: true;
  readonly cell: (object: T) => string;
}

interface Listing<T extends KubeObject> {
  readonly type: ResourceType<T> & { readonly singular: string };
  readonly columns: readonly Column<T>[];
  readonly keep?: (object: T, context: CommandContext) => boolean;
}

type WithConditions = { readonly status?: { readonly conditions?: readonly Readonly<Condition>[] } };

/** `true`, `false`, or nothing while unknown. */
export function readyText({ status }: WithConditions): string {
  const ready = findCondition(status?.conditions, "Ready");
  return ready === undefined ? "" : String(ready.status === "True");
}

const INSTANCES: Listing<FireboltInstance> = {
  type: FireboltInstance,
  columns: [
    { title: "NAME", cell: nameOf },
    { title: "PHASE", cell: ({ status }) => status?.phase ?? "" },
    { title: "READY", cell: readyText },
  ],
};

const ENGINES: Listing<FireboltEngine> = {
  type: FireboltEngine,
  columns: [
    { title: "NAME", cell: nameOf },
    { title: "INSTANCE", cell: ({ spec }) => spec?.instanceRef ?? "" },
    { title: "CLASS", wide: true, cell: ({ spec }) => spec?.engineClassRef ?? "" },
    { title: "REPLICAS", wide: true, cell: ({ spec }) => String(spec?.replicas ?? "") },
    { title: "PHASE", cell: ({ status }) => status?.phase ?? "" },
    { title: "READY", cell: readyText },
  ],
  keep: ({ spec }, { flags }) => {
    const instance = flags.text("instance");
    return instance === "" || spec?.instanceRef === instance;
  },
};

const CLASSES: Listing<FireboltEngineClass> = {
  type: FireboltEngineClass,
  columns: [
    { title: "NAME", cell: nameOf },
    { title: "BOUND", cell: ({ status }) => String(status?.boundEngines ?? "") },
    { title: "READY", cell: readyText },
  ],
};

export const listInstances: Run = (context) => runList(context, INSTANCES);
export const listEngines: Run = (context) => runList(context, ENGINES);
export const listClasses: Run = (context) => runList(context, CLASSES);

async function runList<T extends KubeObject>(context: CommandContext, listing: Listing<T>) {
  const { flags, terminal } = context;
  const format = flags.text("output");
  const everywhere = flags.on("all-namespaces");
  if (flags.on("watch") && isDataFormat(format))
    throw new UsageError("--watch prints tables or names: use -o table, wide or name");
  if (flags.on("print-commands")) {
    terminal.out(
      commandsText([{ comment: `list objects of kind ${listing.type.kind}`, args: listArgs(context, listing) }]),
    );
    return EXIT.ok;
  }
  using cluster = await context.connect();
  const scope: Scope = {
    namespace: everywhere ? undefined : cluster.namespace,
    labelSelector: flags.text("selector"),
  };
  const { items: all, resourceVersion } = await listObjects(cluster, listing.type, scope);
  const items = all.filter((object) => listing.keep?.(object, context) ?? true);
  if (isDataFormat(format)) {
    terminal.raw(await dataText(listObject(listing.type, items), format));
    return EXIT.ok;
  }
  const row = rowOf(listing, format, everywhere);
  const table: Table = { header: row.header, rows: items.map(row.cells) };
  if (format === "name") terminal.out(items.map((object) => `${nameText(listing, object)}\n`).join(""));
  else if (items.length === 0 && !flags.on("watch")) terminal.err(nothingText(listing, scope));
  else terminal.out(renderTable(table));
  if (!flags.on("watch")) return EXIT.ok;
  const widths = columnWidths(table);
  const show = (object: T) =>
    terminal.line(format === "name" ? nameText(listing, object) : renderRow(row.cells(object), widths));
  return await follow(cluster, { context, listing, scope, resourceVersion, show });
}

const nameText = <T extends KubeObject>({ type }: Listing<T>, object: T): string =>
  `${type.singular}/${nameOf(object)}`;

const nothingText = <T extends KubeObject>({ type }: Listing<T>, { namespace }: Scope): string =>
  `No ${type.plural} found ${namespace === undefined ? "in this cluster" : `in namespace ${namespace}. Use -A to search all namespaces`}.\n`;

function rowOf<T extends KubeObject>({ columns }: Listing<T>, format: string, everywhere: boolean) {
  const shown = columns.filter(({ wide }) => wide === undefined || format === "wide");
  return {
    header: [...(everywhere ? ["NAMESPACE"] : []), ...shown.map(({ title }) => title)],
    cells: (object: T) => [...(everywhere ? [namespaceOf(object)] : []), ...shown.map(({ cell }) => cell(object))],
  };
}

interface Following<T extends KubeObject> {
  readonly context: CommandContext;
  readonly listing: Listing<T>;
  readonly scope: Scope;
  readonly resourceVersion: string | undefined;
  readonly show: (object: T) => void;
}

async function follow<T extends KubeObject>(
  cluster: Cluster,
  { context, listing, scope, resourceVersion, show }: Following<T>,
) {
  for await (const event of watchKind(cluster, listing.type, { scope, resourceVersion }))
    if (event.type !== "DELETED" && (listing.keep?.(event.object, context) ?? true)) show(event.object);
  return EXIT.ok;
}

function listArgs<T extends KubeObject>({ flags }: CommandContext, { type }: Listing<T>): readonly string[] {
  const selector = flags.text("selector");
  return [
    ...kubectlArgs(flags, "get", type.singular),
    ...(flags.on("all-namespaces") ? ["-A"] : []),
    ...(selector === "" ? [] : ["-l", selector]),
    ...(flags.on("watch") ? ["-w"] : ["-o", "json"]),
  ];
}
