// One pass over one instance (docs/design/instance.md#steps-of-a-pass): entry, deletion, finalizer, id, observe,
// compute, apply. Reaches the cluster only through InstanceCluster.
import { randomBytes } from "node:crypto";
import type { Logger } from "@firebolt-operator/kube";
import type { NextCheck } from "@firebolt-operator/kube/controller";
import type { EventSink } from "@firebolt-operator/kube/events";
import { INSTANCE_NAMES } from "../../api/group.ts";
import type { InstanceCluster, InstanceKey } from "../cluster/instance-cluster.ts";
import { computeFailedWrites } from "../compute/compute-failed-writes.ts";
import { computeInstance } from "../compute/compute-instance.ts";
import { deleteInstance } from "../deletion/delete-instance.ts";
import { observeHold } from "../deletion/observe-hold.ts";
import type { InstanceMetrics } from "../metrics-hooks.ts";
import { type Instance, identityOf } from "../model/children.ts";
import { RECHECK_MS, type WritingDecision } from "../model/decision.ts";
import type { InstanceMemories, InstanceMemory } from "../model/memory.ts";
import { isNotLeader } from "../model/rejection.ts";
import type { InstanceSnapshot, Troubles } from "../model/snapshot.ts";
import { makeUlid, ULID_RANDOM_BYTES } from "../model/ulid.ts";
import { PASSWORD_BYTES } from "../render/credentials-secret.ts";
import type { RenderSettings } from "../render/instance-objects.ts";
import { resolveAccountId } from "./account-id.ts";
import { applyWrites } from "./apply.ts";
import { type Applied, applyFailedWrites } from "./apply-status.ts";
import { credentialsEvent, restoredEvent } from "./events.ts";
import { observeInstance } from "./observe.ts";
import { recordPass, reportStored } from "./pass-report.ts";
import { countFailure, storeFailure } from "./report-failure.ts";
import { writeStatus } from "./status-write.ts";

export interface PassDeps {
  readonly settings: RenderSettings;
  readonly memories: InstanceMemories;
  readonly nowMs: () => number;
  readonly events: EventSink;
  readonly metrics: InstanceMetrics;
  readonly logger: Logger;
}

export async function runInstancePass(cluster: InstanceCluster, key: InstanceKey, deps: PassDeps): Promise<NextCheck> {
  const instance = cluster.instance(key);
  if (instance === undefined || instance.metadata?.deletionTimestamp !== undefined)
    return finishDeletion(cluster, key, instance, deps);
  if (!isOurs(instance)) {
    await cluster.addFinalizer(instance);
    return "requeue";
  }
  return reconcileInstance(cluster, instance, deps);
}

function reconcileInstance(cluster: InstanceCluster, instance: Instance, deps: DecideDeps): Promise<NextCheck> {
  return (instance.spec.id ?? "") === "" ? identify(cluster, instance, deps) : decideAndApply(cluster, instance, deps);
}

async function finishDeletion(
  cluster: InstanceCluster,
  key: InstanceKey,
  instance: Instance | undefined,
  deps: PassDeps,
): Promise<NextCheck> {
  if (isOurs(instance)) {
    const heldBy = await reportingFailure(observeHold(cluster, instance), { cluster, instance, deps });
    if (heldBy.length > 0) {
      const next = await reconcileInstance(cluster, instance, { ...deps, heldBy });
      // Engines that the watch selector excludes trigger no event.
      return typeof next === "object" ? { afterMs: Math.min(next.afterMs, RECHECK_MS.refused) } : next;
    }
    const { logger, settings } = deps;
    const managesRoles = settings.gatewayClusterRole === undefined;
    await reportingFailure(deleteInstance(cluster, instance, { logger, managesRoles }), { cluster, instance, deps });
  }
  deps.memories.forget(key);
  deps.metrics.removed(key);
  return "onChange";
}

interface FailureContext {
  readonly cluster: InstanceCluster;
  readonly instance: Instance;
  readonly deps: PassDeps;
}

/** A failure before anything is decided, or of a deletion, is reported like any other failed pass. */
async function reportingFailure<T>(work: Promise<T>, { cluster, instance, deps }: FailureContext): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (cluster.signal.aborted || isNotLeader(error)) throw error;
    const memory = deps.memories.of(identityOf(instance));
    const isFirst = countFailure(instance, error, memory, deps);
    const stored = isFirst ? await storeFailure(cluster, instance, memory, deps) : instance;
    recordPass(stored, { succeeded: false, troubles: {} }, deps);
    throw error;
  }
}

function isOurs(instance: Instance | undefined): instance is Instance {
  return instance?.metadata?.finalizers?.includes(INSTANCE_NAMES.finalizer) === true;
}

async function identify(cluster: InstanceCluster, instance: Instance, deps: DecideDeps): Promise<NextCheck> {
  const context = { cluster, instance, deps };
  const found = await reportingFailure(
    resolveAccountId(cluster, instance, () => newAccountId(deps)),
    context,
  );
  if (found.type === "lost") return decideAndApply(cluster, instance, { ...deps, lostId: found.message });
  await reportingFailure(cluster.writeId(instance, found.id), context);
  deps.logger.info("account id written", { id: found.id });
  return "requeue";
}

interface DecideDeps extends PassDeps {
  /** Why the account id cannot be determined any more. */
  readonly lostId?: string;
  /** Engines that hold the deletion. */
  readonly heldBy?: readonly string[];
}

async function decideAndApply(cluster: InstanceCluster, instance: Instance, deps: DecideDeps): Promise<NextCheck> {
  const { settings, nowMs, logger, lostId, heldBy } = deps;
  const memory = deps.memories.of(identityOf(instance));
  let stored = instance;
  let succeeded = false;
  let isStored = false;
  let troubles: Troubles = {};
  try {
    const snapshot = await observeInstance(cluster, instance, {
      settings,
      memory,
      nowMs: nowMs(),
      heldBy,
      lostId,
      logger,
    });
    troubles = snapshot.troubles;
    const decision = computeInstance(snapshot);
    if (decision.type === "rest") {
      succeeded = true;
      return { afterMs: RECHECK_MS.failed };
    }
    if (instance.status?.phase === "Failed" && decision.status.phase !== "Failed")
      logger.info("new attempt after Failed");
    const applied = await apply(decision, snapshot, { cluster, memory, deps });
    isStored = true;
    if (applied.type === "rejected") countFailure(stored, applied.errors[0], memory, deps);
    else if (applied.type === "done") delete memory.failure;
    stored = reportStored(snapshot, decision, applied, deps);
    if (applied.type === "failed") throw applied.error;
    succeeded = applied.type !== "rejected";
    return nextCheck(decision, applied);
  } catch (error) {
    if (cluster.signal.aborted || isNotLeader(error)) throw error;
    const isFirst = countFailure(stored, error, memory, deps);
    // A pass that failed while it wrote has stored the failure; before that the components are not observed.
    if (isFirst && !isStored) stored = await storeFailure(cluster, instance, memory, deps);
    throw error;
  } finally {
    recordPass(stored, { succeeded, troubles }, deps);
  }
}

interface ApplyContext {
  readonly cluster: InstanceCluster;
  readonly memory: InstanceMemory;
  readonly deps: PassDeps;
}

/** The writes of the decision, then the one status write: after failed writes, compute decides again what it shows. */
async function apply(
  decision: WritingDecision,
  snapshot: InstanceSnapshot,
  { cluster, memory, deps }: ApplyContext,
): Promise<Applied> {
  const { logger, events } = deps;
  const { instance } = snapshot;
  const written = await applyWrites(decision, snapshot, {
    cluster,
    memory,
    logger,
    newPassword,
    onCredentialsCreated: () => events.record(credentialsEvent(instance)),
    onRestored: (restored) => events.record(restoredEvent(instance, restored)),
  });
  switch (written.type) {
    case "stale":
    case "early":
      return written;
    case "done":
      delete memory.rejections;
      return { type: "done", status: await writeStatus(cluster, instance, decision.status) };
    case "failed": {
      const next = computeFailedWrites(snapshot, decision, written.failures);
      if (next.rejections === undefined) delete memory.rejections;
      else memory.rejections = next.rejections;
      return applyFailedWrites(instance, written.failures, next, { cluster, logger });
    }
    default:
      return written satisfies never;
  }
}

function nextCheck(decision: WritingDecision, applied: Exclude<Applied, { readonly type: "failed" }>): NextCheck {
  if (applied.type === "early") return { afterMs: RECHECK_MS.early };
  if (applied.type === "stale" || applied.status.type === "discarded") return "requeue";
  if (applied.status.type === "gone") return "onChange";
  if (applied.type === "rejected") return { afterMs: applied.recheckMs };
  switch (decision.type) {
    case "initialise":
    case "remember":
      return "requeue";
    case "hold":
    case "refuse":
      return { afterMs: RECHECK_MS.refused };
    case "provision":
      return { afterMs: decision.recheckMs };
    default:
      return decision satisfies never;
  }
}

function newAccountId({ nowMs }: PassDeps): string {
  return makeUlid(nowMs(), randomBytes(ULID_RANDOM_BYTES));
}

function newPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString("hex");
}
