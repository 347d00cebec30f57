// `support-bundle [instance]` (also `report`): one archive with what support needs to diagnose a problem, without
// secrets.
import { writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { groupResourceOf, isForbidden } from "@firebolt-operator/kube";
import { timeText } from "../../api/condition-list.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { API_VERSION } from "../../api/group.ts";
import { COMPONENTS, LABEL } from "../../api/labels.ts";
import { ENGINE_PHASES, INSTANCE_PHASES } from "../../api/phases.ts";
import { REVISION, VERSION } from "../../command-line/version.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { nameOf, namespaceOf, requireOne } from "../cluster/find-object.ts";
import { describeError } from "../command-line/describe-error.ts";
import { CommandError, EXIT, UsageError } from "../command-line/exit-codes.ts";
import type { Run } from "../commands/command.ts";
import { createLogReader, type LogReader } from "../logs/log-reader.ts";
import { ownCommand } from "../own-command.ts";
import { unreadableNotices } from "../status/notices.ts";
import { observePlatform } from "../status/observe-platform.ts";
import { viewPlatform } from "../status/platform-view.ts";
import { noticeLines, renderTree } from "../status/render-tree.ts";
import { PLAIN } from "../terminal/style.ts";
import { assembleBundle, type CollectedLog } from "./assemble.ts";
import { type Collected, collect, type Subject } from "./collect.ts";
import { Gaps, gapText, listRight } from "./gaps.ts";
import { secretsOf } from "./known-secrets.ts";
import { createScrubber } from "./scrub.ts";
import { createTar } from "./tar.ts";

const LOG_LIMIT_BYTES = 5 * 1024 * 1024;

export const supportBundle: Run = async (context) => {
  const { args, flags, terminal } = context;
  if (flags.on("print-commands"))
    throw new UsageError(
      "--print-commands is not available for support-bundle: kubectl commands alone cannot create one",
    );
  using cluster = await context.connect();
  const gaps = new Gaps(cluster.call.signal);
  const subject = await findSubject(cluster, args[0], gaps);
  const nowMs = context.clock.now();
  const collected = await collect(cluster, subject, gaps);
  if (collected.objects.length === 0)
    throw new CommandError(gaps.found[0]?.why ?? `no object of FireboltInstance "${subject.name}" was found`);
  const status = await statusText(cluster, { subject, nowMs, gaps });
  const logs = flags.on("no-logs")
    ? []
    : await readLogs(cluster, { pods: collected.pods, tail: flags.integer("tail") ?? -1, gaps });
  const stamp = timeText(nowMs).replaceAll(/[-:]/g, "").replace("T", "-").replace("Z", "");
  const folder = `firebolt-${cluster.namespace}-${subject.name}-${stamp}`;
  const scrubber = createScrubber(hiddenValues(collected));
  const versions = { plugin: VERSION, revision: REVISION, kubernetes: collected.version };
  const files = await assembleBundle({ ...collected, versions, status, logs, gaps: gaps.found }, scrubber);
  const path = flags.text("file") || `${folder}.tar.gz`;
  const archive = createTar(
    files.map((file) => ({ ...file, path: `${folder}/${file.path}` })),
    nowMs,
  );
  await writeNew(path, gzipSync(archive));
  for (const gap of gaps.found) terminal.warn(`omitted: ${gapText(gap, scrubber)}`);
  terminal.line(`${path}: ${collected.objects.length} objects, ${collected.events.length} events, ${logs.length} logs`);
  terminal.line(
    "Without: data of Secrets and ConfigMaps, values of variables, engine configuration, query text, credentials. Read it before you send it.",
  );
  if (!gaps.isIncomplete) return EXIT.ok;
  terminal.warn("the bundle is incomplete: gaps.txt in it lists what is missing and the permissions that are needed");
  return EXIT.incomplete;
};

/**
 * The named instance, or the only one. One that the user may not read is a gap if its name is known: its objects carry
 * the name in their labels.
 */
async function findSubject(cluster: Cluster, name: string | undefined, gaps: Gaps): Promise<Subject> {
  const { namespace } = cluster;
  try {
    const instance = await requireOne(cluster, FireboltInstance, name);
    return { name: nameOf(instance), instance };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    if (name === undefined)
      throw new CommandError(
        `${describeError(error)}; pass the name of the instance instead: ${ownCommand(cluster, ["support-bundle", "INSTANCE"])}`,
      );
    const kind = groupResourceOf(FireboltInstance);
    gaps.record({ what: `${kind}/${name}`, right: `get ${kind} in namespace ${namespace}` }, error);
    return { name, instance: undefined };
  }
}

interface StatusRequest {
  readonly subject: Subject;
  readonly nowMs: number;
  readonly gaps: Gaps;
}

/** The tree of `status`, with the kinds that may not be listed above it. */
function statusText(cluster: Cluster, { subject: { instance }, nowMs, gaps }: StatusRequest): Promise<string> {
  const right = listRight(FireboltInstance, cluster.namespace);
  return gaps.attempt(
    { what: "status.txt", right },
    async () => {
      const known = instance === undefined ? [] : [instance];
      const observed = await observePlatform(cluster, cluster.namespace, { known });
      const notices = noticeLines(unreadableNotices(observed.unreadable), { style: PLAIN, width: undefined });
      const instancesUnknown = observed.unreadable?.has(FireboltInstance.plural) === true;
      const shows = { showNamespace: false, showPods: true, instancesUnknown };
      const tree = renderTree(viewPlatform(observed), { style: PLAIN, nowMs, ...shows });
      return [...notices.map((line) => `${line}\n`), tree].join("");
    },
    "",
  );
}

/** Never overwrites a file, which may have wider permissions. */
async function writeNew(path: string, content: Buffer): Promise<void> {
  try {
    await writeFile(path, content, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const why =
      code === "EEXIST"
        ? "the file already exists: remove it, or choose another one with --file"
        : code === "ENOENT"
          ? "the folder does not exist: create it, or choose another file with --file"
          : code === "EACCES" || code === "EROFS" || code === "EPERM"
            ? "permission denied: choose another file with --file"
            : undefined;
    if (why === undefined) throw error;
    throw new CommandError(`the support bundle was not written to ${path}: ${why}`);
  }
}

/** Words of every bundle: never removed, even if a configuration contains them. */
const VOCABULARY = [API_VERSION, ...Object.values(LABEL), ...COMPONENTS, ...ENGINE_PHASES, ...INSTANCE_PHASES].join(
  " ",
);

/** Names are not secrets, even if a configuration contains them: the bundle would be unreadable without them. */
function hiddenValues({ objects, secrets }: Collected): Iterable<string> {
  const names = new Set(objects.flatMap((object) => [nameOf(object), namespaceOf(object)]));
  return [...objects, ...secrets]
    .flatMap(secretsOf)
    .filter((value) => !names.has(value) && !VOCABULARY.includes(value));
}

interface LogsRequest {
  readonly pods: readonly V1Pod[];
  /** Number of lines from the end; negative: all. */
  readonly tail: number;
  readonly gaps: Gaps;
}

async function readLogs(cluster: Cluster, { pods, tail, gaps }: LogsRequest): Promise<readonly CollectedLog[]> {
  using reader = createLogReader(cluster.config);
  const wanted = pods.flatMap((pod) =>
    [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].flatMap(
      ({ name, restartCount }) => [
        { pod, container: name, previous: false },
        ...(restartCount > 0 ? [{ pod, container: name, previous: true }] : []),
      ],
    ),
  );
  const logs = await Promise.all(
    wanted.map((one): Promise<CollectedLog[]> => {
      const path = `logs/${nameOf(one.pod)}/${one.container}${one.previous ? ".previous" : ""}.log`;
      return gaps.attempt(
        { what: path, right: `get pods/log in namespace ${namespaceOf(one.pod)}` },
        async () => [{ path, text: await readLog(cluster, reader, { ...one, tail }) }],
        [],
      );
    }),
  );
  return logs.flat();
}

interface LogRequest {
  readonly pod: V1Pod;
  readonly container: string;
  readonly previous: boolean;
  readonly tail: number;
}

async function readLog(
  cluster: Cluster,
  reader: LogReader,
  { pod, container, previous, tail }: LogRequest,
): Promise<string> {
  const request = {
    namespace: namespaceOf(pod),
    pod: nameOf(pod),
    container,
    previous,
    tailLines: tail < 0 ? undefined : tail,
    limitBytes: LOG_LIMIT_BYTES,
  };
  const lines: string[] = [];
  for await (const { time, text } of reader.lines(request, cluster.call)) lines.push(`${time} ${text}\n`);
  return lines.join("");
}
