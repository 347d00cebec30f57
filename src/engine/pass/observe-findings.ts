// Makes the further reads that the step depends on (compute/inquiries.ts): warnings, editors, the time of a stop,
// running queries. Best effort where the result only explains something: a failed look-up is logged and changes
// nothing.
import type { Logger } from "@firebolt-operator/kube";
import type { ActivityRequest } from "../auto-stop/decide.ts";
import { replicasSetMs } from "../auto-stop/foreign-stop.ts";
import type { EngineCluster } from "../cluster/engine-cluster.ts";
import { newestEditor, statefulSetEditorOf } from "../compute/editors.ts";
import { inquiriesOf } from "../compute/inquiries.ts";
import type { StuckStatefulSet } from "../compute/warning.ts";
import type { EngineIdentity } from "../model/names.ts";
import type { EngineSnapshot, Findings, StatefulSetWarning } from "../model/snapshot.ts";
import { observeActivity } from "./observe-activity.ts";

interface Io {
  readonly cluster: EngineCluster;
  readonly logger: Logger;
}

/** One after the other: the first that fails the pass saves the requests of the rest. */
export async function observeFindings(s: EngineSnapshot, io: Io, inquiries = inquiriesOf(s)): Promise<Findings> {
  const { cluster } = io;
  const { namespace } = s.identity;
  const { warningsOf, statefulSetEditor, serviceEditor, stopTime, activity } = inquiries;
  return {
    warning: warningsOf && (await newestWarning(io, namespace, warningsOf)),
    statefulSetEditor:
      statefulSetEditor &&
      (await bestEffort(
        io,
        async () => statefulSetEditorOf(await cluster.readChild("StatefulSet", { namespace, name: statefulSetEditor })),
        { message: "the editor of the StatefulSet could not be looked up", fields: { statefulSet: statefulSetEditor } },
      )),
    serviceEditor:
      serviceEditor &&
      (await bestEffort(
        io,
        async () => newestEditor(await cluster.readChild("Service", { namespace, name: serviceEditor })),
        {
          message: "the editor of the Service could not be looked up",
          fields: { service: serviceEditor },
        },
      )),
    replicasSetMs: stopTime ? await stopTimeOf(cluster, s.identity) : undefined,
    ...(activity === undefined ? {} : await activityOf(cluster, activity, s)),
  };
}

async function newestWarning(
  io: Io,
  namespace: string,
  { name, uid }: StuckStatefulSet,
): Promise<StatefulSetWarning | undefined> {
  const warnings = await bestEffort(io, () => io.cluster.listWarnings(namespace, uid), {
    message: "warnings of the StatefulSet could not be listed",
    fields: { statefulSet: name },
  });
  return (warnings ?? [])
    .filter(({ message }) => message.trim() !== "")
    .toSorted((a, b) => b.lastSeenMs - a.lastSeenMs)[0];
}

/** Only the API server knows when `spec.replicas` was set: caches do not keep managed fields. */
async function stopTimeOf(cluster: EngineCluster, identity: EngineIdentity): Promise<number | undefined> {
  const { metadata, spec } = (await cluster.readEngine(identity)) ?? {};
  return metadata?.uid === identity.uid && spec?.replicas === 0 ? replicasSetMs(metadata) : undefined;
}

/** Also remembers that the engine was observed, unless its pods have not responded yet. */
async function activityOf(
  cluster: EngineCluster,
  request: ActivityRequest,
  { identity: { uid }, nowMs }: EngineSnapshot,
): Promise<Pick<Findings, "activity" | "lastEvaluated">> {
  const activity = await observeActivity(cluster, request);
  if (activity === "pending") return { activity };
  const lastEvaluated = cluster.evaluations?.lastOf(uid);
  cluster.evaluations?.note(uid, nowMs);
  return { activity, lastEvaluated };
}

async function bestEffort<T>(
  { cluster, logger }: Io,
  read: () => Promise<T>,
  failure: { readonly message: string; readonly fields: Readonly<Record<string, string>> },
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (cluster.signal.aborted) throw error;
    logger.error(failure.message, error, failure.fields);
    return undefined;
  }
}
