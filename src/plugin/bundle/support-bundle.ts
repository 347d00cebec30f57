// `support-bundle [instance]` (also `report`): one archive with what somebody else needs to understand a problem, and nothing that
// they must not see.
import { writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { timeText } from "../../api/condition-list.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { API_VERSION } from "../../api/group.ts";
import { FireboltInstance } from "../../api/instance.ts";
import { COMPONENTS, LABEL } from "../../api/labels.ts";
import { ENGINE_PHASES, INSTANCE_PHASES } from "../../api/phases.ts";
import type { Cluster } from "../cluster.ts";
import type { Run } from "../command.ts";
import { describeError } from "../describe-error.ts";
import { CommandError, EXIT, UsageError } from "../exit-codes.ts";
import { nameOf, namespaceOf, requireOne } from "../find-object.ts";
import { createLogReader, type LogReader } from "../logs/log-reader.ts";
import { observePlatform } from "../status/observe-platform.ts";
import { viewPlatform } from "../status/platform-view.ts";
import { renderTree } from "../status/render-tree.ts";
import { PLAIN } from "../terminal/style.ts";
import { REVISION, VERSION } from "../version.ts";
import { assembleBundle, type CollectedLog } from "./assemble.ts";
import { type Collected, collect } from "./collect.ts";
import { secretsOf } from "./known-secrets.ts";
import { createScrubber } from "./scrub.ts";
import { createTar } from "./tar.ts";

const LOG_LIMIT_BYTES = 5 * 1024 * 1024;

export const supportBundle: Run = async (context) => {
  const { args, flags, terminal } = context;
  if (flags.on("print-commands"))
    throw new UsageError("a support bundle is more than kubectl commands: --print-commands is not available here");
  using cluster = await context.connect();
  const instance = await requireOne(cluster, FireboltInstance, args[0]);
  const name = nameOf(instance);
  const nowMs = Date.now();
  const collected = await collect(cluster, instance);
  const status = renderTree(viewPlatform(await observePlatform(cluster, cluster.namespace)), {
    style: PLAIN,
    nowMs,
    showNamespace: false,
    showPods: true,
  });
  const { logs, gaps: missing } = flags.on("no-logs")
    ? { logs: [], gaps: [] }
    : await readLogs(cluster, collected.pods, flags.integer("tail") ?? -1);
  const gaps = [...collected.gaps, ...missing];
  const stamp = timeText(nowMs).replaceAll(/[-:]/g, "").replace("T", "-").replace("Z", "");
  const folder = `firebolt-${cluster.namespace}-${name}-${stamp}`;
  const scrubber = createScrubber(hiddenValues(collected));
  const versions = { plugin: VERSION, revision: REVISION, kubernetes: collected.version };
  const files = await assembleBundle({ ...collected, versions, status, logs, gaps }, scrubber);
  const path = flags.text("file") || `${folder}.tar.gz`;
  const archive = createTar(
    files.map((file) => ({ ...file, path: `${folder}/${file.path}` })),
    nowMs,
  );
  await writeNew(path, gzipSync(archive));
  for (const gap of gaps) terminal.warn(`left out: ${scrubber.text(gap)}`);
  terminal.line(`${path}: ${collected.objects.length} objects, ${collected.events.length} events, ${logs.length} logs`);
  terminal.line(
    "Without: data of Secrets and ConfigMaps, values of variables, engine configuration, query text, credentials. Read it before you send it.",
  );
  return EXIT.ok;
};

/** Never over a file that is there: it may be somebody's, and readable by others. */
async function writeNew(path: string, content: Buffer): Promise<void> {
  try {
    await writeFile(path, content, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const why =
      code === "EEXIST"
        ? "there is such a file already: remove it, or name another with --file"
        : code === "ENOENT"
          ? "there is no such folder: make it, or name another file with --file"
          : code === "EACCES" || code === "EROFS" || code === "EPERM"
            ? "it may not be written: name another file with --file"
            : undefined;
    if (why === undefined) throw error;
    throw new CommandError(`the support bundle was not written to ${path}: ${why}`);
  }
}

/** Words that are in every bundle, whatever a configuration repeats of them. */
const VOCABULARY = [API_VERSION, ...Object.values(LABEL), ...COMPONENTS, ...ENGINE_PHASES, ...INSTANCE_PHASES].join(
  " ",
);

/** Names are no secrets, even when a configuration repeats them: without them nobody could read the bundle. */
function hiddenValues({ objects, secrets }: Collected): Iterable<string> {
  const names = new Set(objects.flatMap((object) => [nameOf(object), namespaceOf(object)]));
  return [...objects, ...secrets]
    .flatMap(secretsOf)
    .filter((value) => !names.has(value) && !VOCABULARY.includes(value));
}

async function readLogs(
  cluster: Cluster,
  all: readonly V1Pod[],
  tail: number,
): Promise<{ readonly logs: readonly CollectedLog[]; readonly gaps: readonly string[] }> {
  using reader = createLogReader(cluster.config);
  const wanted = all.flatMap((pod) =>
    [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].flatMap(
      ({ name, restartCount }) => [
        { pod, container: name, previous: false },
        ...(restartCount > 0 ? [{ pod, container: name, previous: true }] : []),
      ],
    ),
  );
  const gaps: string[] = [];
  const logs = await Promise.all(
    wanted.map(async (one): Promise<CollectedLog[]> => {
      const path = `logs/${nameOf(one.pod)}/${one.container}${one.previous ? ".previous" : ""}.log`;
      try {
        return [{ path, text: await readLog(cluster, reader, { ...one, tail }) }];
      } catch (error) {
        if (cluster.call.signal.aborted) throw error;
        gaps.push(`${path}: ${describeError(error)}`);
        return [];
      }
    }),
  );
  return { logs: logs.flat(), gaps };
}

interface LogWish {
  readonly pod: V1Pod;
  readonly container: string;
  readonly previous: boolean;
  readonly tail: number;
}

async function readLog(
  cluster: Cluster,
  reader: LogReader,
  { pod, container, previous, tail }: LogWish,
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
