// Deletes orphaned objects of abandoned and cleaned generations (docs/design/engine.md#sweep). Runs after every pass,
// costs nothing when there is nothing to do, and never fails the pass.
import { type Logger, NotLeaderError } from "@firebolt-operator/kube";
import type { EngineCluster } from "../cluster/engine-cluster.ts";
import { type SweepView, selectOrphans } from "../compute/sweep.ts";
import type { Removal } from "../model/decision.ts";
import { type EngineIdentity, routingServiceName } from "../model/names.ts";
import { viewRouting } from "../model/routing.ts";
import { generationsOf } from "../model/stored-state.ts";
import { confirmView } from "./confirm-view.ts";

export interface SweepOptions {
  readonly cluster: EngineCluster;
  readonly identity: EngineIdentity;
  readonly logger: Logger;
  readonly onDeleted: (kind: Removal["kind"]) => void;
}

/** Backlog: objects remain to be deleted, so requeue soon. */
export type SweepResult = "clean" | "backlog";

const DELETES_PER_PASS = 100;
const FAILURES_PER_KIND = 3;

export async function sweepOrphans(options: SweepOptions): Promise<SweepResult> {
  const { cluster, identity, logger } = options;
  const cached = cachedView(cluster, identity);
  if (cached === undefined || selectOrphans(cached, cluster.children(identity)).length === 0) return "clean";
  let view: SweepView | undefined;
  try {
    view = await confirmView(cluster, identity);
  } catch (error) {
    if (cluster.signal.aborted || error instanceof NotLeaderError) throw error;
    logger.error("sweep skipped, the engine could not be read", error);
    return "backlog";
  }
  return view === undefined ? "clean" : removeOrphans(options, selectOrphans(view, cluster.children(identity)));
}

function cachedView(cluster: EngineCluster, identity: EngineIdentity): SweepView | undefined {
  const { namespace, name, uid } = identity;
  const engine = cluster.engine({ namespace, name });
  if (engine?.metadata?.uid !== uid || engine.metadata.deletionTimestamp !== undefined) return undefined;
  const routing = viewRouting(cluster.child("Service", { namespace, name: routingServiceName(name) }), identity);
  return { uid, generations: generationsOf(engine), routingTarget: routing.type === "absent" ? -1 : routing.target };
}

async function removeOrphans(options: SweepOptions, orphans: readonly Removal[]): Promise<SweepResult> {
  const failures = new Map<Removal["kind"], number>();
  let deleted = 0;
  for (const orphan of orphans) {
    if (deleted >= DELETES_PER_PASS) return "backlog";
    const failed = failures.get(orphan.kind) ?? 0;
    if (failed >= FAILURES_PER_KIND) continue;
    if (await removeOrphan(options, orphan)) deleted += 1;
    else failures.set(orphan.kind, failed + 1);
  }
  return failures.size > 0 ? "backlog" : "clean";
}

async function removeOrphan(options: SweepOptions, orphan: Removal): Promise<boolean> {
  const { cluster, identity, logger, onDeleted } = options;
  try {
    await cluster.remove(identity.namespace, orphan);
    logger.info("orphan deleted", { kind: orphan.kind, object: orphan.name });
    onDeleted(orphan.kind);
    return true;
  } catch (error) {
    if (cluster.signal.aborted || error instanceof NotLeaderError) throw error;
    logger.error("orphan could not be deleted", error, { kind: orphan.kind, object: orphan.name });
    return false;
  }
}
