// `engine logs` and `instance logs`: the logs of several pods as one, in the order in which the lines were written.
import type { LogRequest } from "@firebolt-operator/kube/client";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import { pods } from "../../engine/cluster/kinds.ts";
import { ENGINE_CONTAINER } from "../../engine/model/pod-contract.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { listObjects, nameOf, namespaceOf, requireObject, requireOne } from "../cluster/find-object.ts";
import { commandsText, kubectlArgs, secondsText } from "../cluster/kubectl.ts";
import { describeError } from "../command-line/describe-error.ts";
import { CommandError, EXIT, type ExitCode, UsageError } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import { createLogReader, type LogLine, type LogReader } from "./log-reader.ts";

interface Source extends LogRequest {
  readonly label: string;
}

interface SourceLine extends LogLine {
  readonly source: Source;
}

export const engineLogs: Run = async (context) => {
  const { args, flags } = context;
  const [name = ""] = args;
  const generation = flags.text("generation");
  if (generation !== "" && !/^\d+$/.test(generation))
    throw new UsageError(`--generation=${generation}: must be a generation number, such as 3`);
  const labelSelector = `${LABEL.engine}=${name}${generation === "" ? "" : `,${LABEL.generation}=${generation}`}`;
  const what = `engine ${name}${generation === "" ? "" : ` (generation ${generation})`}`;
  const wanted = { labelSelector, what, container: flags.text("container") || ENGINE_CONTAINER };
  if (flags.on("print-commands")) return printLogs(context, wanted);
  using cluster = await context.connect();
  await requireObject(cluster, FireboltEngine, name);
  return await showLogs(context, cluster, wanted);
};

export const instanceLogs: Run = async (context) => {
  const { args, flags } = context;
  const component = flags.text("component");
  const wanted = (name: string): Wanted => ({
    labelSelector: `${LABEL.instance}=${name}${component === "" ? "" : `,${LABEL.component}=${component}`}`,
    what: `${component === "" ? "instance" : component} of ${name}`,
    container: flags.text("container"),
  });
  if (flags.on("print-commands")) {
    if (args[0] === undefined)
      throw new UsageError("--print-commands does not read the cluster: pass the name of the instance");
    return printLogs(context, wanted(args[0]));
  }
  using cluster = await context.connect();
  const name = nameOf(await requireOne(cluster, FireboltInstance, args[0]));
  return await showLogs(context, cluster, wanted(name));
};

interface Wanted {
  readonly labelSelector: string;
  readonly what: string;
  /** Empty: every container. */
  readonly container: string;
}

async function showLogs(context: CommandContext, cluster: Cluster, wanted: Wanted): Promise<ExitCode> {
  const { flags } = context;
  const { items } = await listObjects(cluster, pods, {
    namespace: cluster.namespace,
    labelSelector: wanted.labelSelector,
  });
  if (items.length === 0)
    throw new CommandError(
      `there are no pods of ${wanted.what} in namespace ${JSON.stringify(cluster.namespace)}`,
      EXIT.notFound,
    );
  const sources = items
    .flatMap((pod) => sourcesOf(context, pod, wanted.container))
    .sort((a, b) => a.label.localeCompare(b.label, "en", { numeric: true }));
  if (sources.length === 0) {
    const names = [...new Set(items.flatMap(({ spec }) => spec?.containers.map(({ name }) => name) ?? []))];
    throw new CommandError(
      `no pod of ${wanted.what} has a container ${JSON.stringify(wanted.container)}: there are ${names.join(", ")}`,
      EXIT.notFound,
    );
  }
  using reader = createLogReader(cluster.config);
  const print = printer(context, sources);
  return await (flags.on("follow")
    ? followAll(cluster, reader, { sources, print, context })
    : readAll(cluster, reader, { sources, print, context }));
}

function sourcesOf({ flags }: CommandContext, pod: V1Pod, container: string): readonly Source[] {
  const tail = flags.integer("tail") ?? -1;
  const since = flags.durationMs("since");
  const names = (pod.spec?.containers ?? [])
    .map(({ name }) => name)
    .filter((name) => container === "" || name === container);
  return names.map((name) => ({
    namespace: namespaceOf(pod),
    pod: nameOf(pod),
    container: name,
    label: names.length === 1 && container !== "" ? nameOf(pod) : `${nameOf(pod)}/${name}`,
    tailLines: tail < 0 ? undefined : tail,
    sinceSeconds: since === undefined ? undefined : Math.max(1, Math.ceil(since / 1000)),
    follow: flags.on("follow"),
    previous: flags.on("previous"),
  }));
}

interface Reading {
  readonly context: CommandContext;
  readonly sources: readonly Source[];
  readonly print: (line: SourceLine) => void;
}

/** A source that cannot be read does not hide the others; if none can be read, the command fails. */
async function readAll(cluster: Cluster, reader: LogReader, { sources, print, context }: Reading): Promise<ExitCode> {
  let failed = 0;
  const logs = await Promise.all(
    sources.map(async (source) => {
      const lines: SourceLine[] = [];
      try {
        for await (const line of reader.lines(source, cluster.call)) lines.push({ ...line, source });
      } catch (error) {
        if (cluster.call.signal.aborted) throw error;
        failed += 1;
        context.terminal.warn(`${source.label}: ${describeError(error)}`);
      }
      return lines;
    }),
  );
  // The sort is stable: lines of the same instant stay in the order of their source.
  for (const line of logs.flat().sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))) print(line);
  return failed === sources.length ? EXIT.failed : EXIT.ok;
}

async function followAll(cluster: Cluster, reader: LogReader, { sources, print, context }: Reading): Promise<ExitCode> {
  await Promise.all(
    sources.map(async (source) => {
      try {
        for await (const line of reader.lines(source, cluster.call)) print({ ...line, source });
      } catch (error) {
        if (!cluster.call.signal.aborted) context.terminal.warn(`${source.label}: ${describeError(error)}`);
      }
    }),
  );
  return EXIT.ok;
}

/** Lines have a prefix when there is more than one source. */
function printer({ flags, terminal }: CommandContext, sources: readonly Source[]): (line: SourceLine) => void {
  const { style } = terminal;
  const prefixed = sources.length > 1 || flags.on("prefix");
  const width = Math.max(...sources.map(({ label }) => label.length));
  const order = new Map(sources.map((source, index) => [source, index]));
  return ({ source, time, text }) => {
    const prefix = prefixed ? `${style.nth(order.get(source) ?? 0, source.label.padEnd(width))}  ` : "";
    // Unchanged, as kubectl prints them, with their colours.
    terminal.raw(`${prefix}${flags.on("timestamps") ? `${style.dim(time)} ` : ""}${text}\n`);
  };
}

function printLogs({ flags, terminal }: CommandContext, { labelSelector, container }: Wanted): ExitCode {
  const since = flags.durationMs("since");
  const rest = [
    "-l",
    labelSelector,
    ...(container === "" ? ["--all-containers"] : ["-c", container]),
    `--tail=${flags.integer("tail") ?? -1}`,
    ...(since === undefined ? [] : [`--since=${secondsText(since)}`]),
    "--prefix",
    "--ignore-errors",
    ...(flags.on("timestamps") ? ["--timestamps"] : []),
    // By default kubectl follows at most five pods.
    ...(flags.on("follow") ? ["-f", "--max-log-requests=1000"] : []),
    ...(flags.on("previous") ? ["--previous"] : []),
  ];
  terminal.out(commandsText([{ comment: "the logs, one pod at a time", args: kubectlArgs(flags, "logs", ...rest) }]));
  return EXIT.ok;
}
