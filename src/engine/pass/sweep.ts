// Deletes orphaned objects of abandoned and cleaned generations (docs/design/engine.md#sweep). Runs after every pass,
// costs nothing when there is nothing to do, and never fails the pass.
import { type Logger, NotLeaderError } from "@firebolt-operator/kube";
import type { EngineWorld } from "../cluster/world.ts";
import { type SweepView, selectOrphans } from "../compute/sweep.ts";
import type { Removal } from "../model/decision.ts";
import { type EngineIdentity, routingServiceName } from "../model/names.ts";
import { viewRouting } from "../model/routing.ts";
import { generationsOf } from "../model/stored-state.ts";
import { confirmView } from "./confirm-view.ts";

export interface SweepOptions {
  readonly world: EngineWorld;
  readonly identity: EngineIdentity;
  readonly logger: Logger;
  readonly onDeleted: (kind: Removal["kind"]) => void;
}

/** Backlog: something is left to delete, so look again soon. */
export type SweepResult = "clean" | "backlog";

const DELETES_PER_PASS = 100;
const FAILURES_PER_KIND = 3;

export async function sweepOrphans(options: SweepOptions): Promise<SweepResult> {
  const { world, identity, logger } = options;
  const cached = cachedView(world, identity);
  if (cached === undefined || selectOrphans(cached, world.children(identity)).length === 0) return "clean";
  let view: SweepView | undefined;
  try {
    view = await confirmView(world, identity);
  } catch (error) {
    if (world.signal.aborted || error instanceof NotLeaderError) throw error;
    logger.error("sweep skipped, the engine could not be read", error);
    return "backlog";
  }
  return view === undefined ? "clean" : removeOrphans(options, selectOrphans(view, world.children(identity)));
}

function cachedView(world: EngineWorld, identity: EngineIdentity): SweepView | undefined {
  const { namespace, name, uid } = identity;
  const engine = world.engine({ namespace, name });
  if (engine?.metadata?.uid !== uid || engine.metadata.deletionTimestamp !== undefined) return undefined;
  const routing = viewRouting(world.child("Service", { namespace, name: routingServiceName(name) }), identity);
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
  const { world, identity, logger, onDeleted } = options;
  try {
    await world.remove(identity.namespace, orphan);
    logger.info("orphan deleted", { kind: orphan.kind, object: orphan.name });
    onDeleted(orphan.kind);
    return true;
  } catch (error) {
    if (world.signal.aborted || error instanceof NotLeaderError) throw error;
    logger.error("orphan could not be deleted", error, { kind: orphan.kind, object: orphan.name });
    return false;
  }
}
