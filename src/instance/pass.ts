// One pass over one instance, a straight line (docs/design/instance.md#steps-of-a-pass): entry, deletion, finalizer, id, observe,
// compute, apply. Knows the outside only through its world.
import { randomBytes } from "node:crypto";
import type { Logger } from "@firebolt-operator/kube";
import type { NextCheck } from "@firebolt-operator/kube/controller";
import type { EventSink } from "@firebolt-operator/kube/events";
import { INSTANCE_NAMES } from "../api/group.ts";
import { resolveAccountId } from "./account-id.ts";
import { type Applied, applyDecision } from "./apply.ts";
import { type Instance, identityOf } from "./children.ts";
import { computeInstance, refuseLostId } from "./compute/compute-instance.ts";
import { growthTrouble } from "./database/storage.ts";
import { type InstanceDecision, RECHECK_MS } from "./decision.ts";
import { deleteInstance } from "./deletion/delete-instance.ts";
import { observeHold } from "./deletion/hold.ts";
import { credentialsEvent, eventsOf, restoredEvent } from "./events.ts";
import { noteFailure, showFailure } from "./failure.ts";
import type { InstanceMemories } from "./memory.ts";
import type { InstanceMetrics } from "./metrics-hooks.ts";
import { observeInstance } from "./observe.ts";
import { isNotLeader } from "./refusal.ts";
import { PASSWORD_BYTES } from "./render/credentials-secret.ts";
import type { RenderSettings } from "./render/instance-objects.ts";
import type { InstanceSnapshot, Troubles } from "./snapshot.ts";
import type { StatusOutcome } from "./status-write.ts";
import { makeUlid, ULID_RANDOM_BYTES } from "./ulid.ts";
import type { InstanceKey, InstanceWorld } from "./world.ts";

export interface PassDeps {
  readonly settings: RenderSettings;
  readonly memories: InstanceMemories;
  readonly nowMs: () => number;
  readonly events: EventSink;
  readonly metrics: InstanceMetrics;
  readonly logger: Logger;
}

export async function runInstancePass(world: InstanceWorld, key: InstanceKey, deps: PassDeps): Promise<NextCheck> {
  const instance = world.instance(key);
  if (instance === undefined || instance.metadata?.deletionTimestamp !== undefined)
    return endInstance(world, key, instance, deps);
  if (!isOurs(instance)) {
    await world.addFinalizer(instance);
    return "requeue";
  }
  return keepUp(world, instance, deps);
}

function keepUp(world: InstanceWorld, instance: Instance, deps: DecideDeps): Promise<NextCheck> {
  return (instance.spec.id ?? "") === "" ? identify(world, instance, deps) : decideAndApply(world, instance, deps);
}

async function endInstance(
  world: InstanceWorld,
  key: InstanceKey,
  instance: Instance | undefined,
  deps: PassDeps,
): Promise<NextCheck> {
  if (isOurs(instance)) {
    const heldBy = await orShown(observeHold(world, instance), { world, instance, deps });
    if (heldBy.length > 0) {
      const next = await keepUp(world, instance, { ...deps, heldBy });
      // Engines that the watch selector hides are not announced.
      return typeof next === "object" ? { afterMs: Math.min(next.afterMs, RECHECK_MS.refused) } : next;
    }
    const { logger, settings } = deps;
    const managesRoles = settings.gatewayClusterRole === undefined;
    await orShown(deleteInstance(world, instance, { logger, managesRoles }), { world, instance, deps });
  }
  deps.memories.forget(key);
  deps.metrics.removed(key);
  return "onChange";
}

interface Shown {
  readonly world: InstanceWorld;
  readonly instance: Instance;
  readonly deps: PassDeps;
}

/** What fails before anything is decided, or in its stead, shows like any other failed pass. */
async function orShown<T>(work: Promise<T>, { world, instance, deps }: Shown): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (world.signal.aborted || isNotLeader(error)) throw error;
    const memory = deps.memories.of(identityOf(instance));
    const isNews = noteFailure(instance, error, memory, deps);
    const stored = isNews ? await showFailure(world, instance, memory, deps) : instance;
    recordPass(stored, { succeeded: false, troubles: {} }, deps);
    throw error;
  }
}

function isOurs(instance: Instance | undefined): instance is Instance {
  return instance?.metadata?.finalizers?.includes(INSTANCE_NAMES.finalizer) === true;
}

async function identify(world: InstanceWorld, instance: Instance, deps: DecideDeps): Promise<NextCheck> {
  const shown = { world, instance, deps };
  const found = await orShown(
    resolveAccountId(world, instance, () => newAccountId(deps)),
    shown,
  );
  if (found.type === "lost") return decideAndApply(world, instance, { ...deps, lostId: found.message });
  await orShown(world.writeId(instance, found.id), shown);
  deps.logger.info("account id written", { id: found.id });
  return "requeue";
}

interface DecideDeps extends PassDeps {
  /** Why nothing can be decided about an instance whose account is not known any more. */
  readonly lostId?: string;
  /** Engines that hold its deletion. */
  readonly heldBy?: readonly string[];
}

async function decideAndApply(world: InstanceWorld, instance: Instance, deps: DecideDeps): Promise<NextCheck> {
  const { settings, nowMs, logger, events, lostId, heldBy = [] } = deps;
  const memory = deps.memories.of(identityOf(instance));
  let stored = instance;
  let succeeded = false;
  let isShown = false;
  let troubles: Troubles = {};
  try {
    const snapshot = await observeInstance(world, instance, { settings, memory, nowMs: nowMs(), heldBy, logger });
    troubles = snapshot.troubles;
    const decision = lostId === undefined ? computeInstance(snapshot) : refuseLostId(snapshot, lostId);
    if (decision.type === "rest") {
      succeeded = true;
      return { afterMs: RECHECK_MS.failed };
    }
    if (instance.status?.phase === "Failed" && decision.status.phase !== "Failed") logger.info("leaving Failed");
    const onCredentialsCreated = () => events.record(credentialsEvent(instance));
    const applied = await applyDecision(decision, snapshot, {
      world,
      memory,
      logger,
      newPassword,
      onCredentialsCreated,
      onRestored: (restored) => events.record(restoredEvent(instance, restored)),
    });
    isShown = true;
    if (applied.type === "refused") noteFailure(stored, applied.errors[0], memory, deps);
    else if (applied.type === "done") delete memory.failure;
    stored = report(snapshot, decision, applied, deps);
    if (applied.type === "failed") throw applied.error;
    succeeded = applied.type !== "refused";
    return nextCheck(decision, applied);
  } catch (error) {
    if (world.signal.aborted || isNotLeader(error)) throw error;
    const isNews = noteFailure(stored, error, memory, deps);
    // One that failed while it wrote has shown it; before that nothing is known about the components.
    if (isNews && !isShown) stored = await showFailure(world, instance, memory, deps);
    throw error;
  } finally {
    recordPass(stored, { succeeded, troubles }, deps);
  }
}

/** Logs and events of what was stored; returns the instance as it is stored now. */
function report(
  snapshot: InstanceSnapshot,
  decision: InstanceDecision,
  applied: Applied,
  { events, logger }: PassDeps,
): Instance {
  const { instance: before } = snapshot;
  if (applied.type === "stale" || applied.type === "early") return before;
  // Thrown errors are logged by whoever catches them.
  for (const error of applied.type === "refused" ? applied.errors : [])
    logger.error("write rejected by the API server", error);
  const { status } = applied;
  if (status.type !== "written") return before;
  const after = status.instance;
  if (decision.type === "refuse")
    logger.info("instance refused", { reason: decision.finding.reason, cause: decision.finding.message });
  if (before.status?.phase !== after.status?.phase)
    logger.info("phase changed", { from: before.status?.phase ?? "", to: after.status?.phase });
  const volume = snapshot.troubles.volume ?? growthTrouble(snapshot);
  const troubles = { ...snapshot.troubles, ...(volume === undefined ? {} : { volume }) };
  for (const event of eventsOf(before, after.status, troubles)) events.record(event);
  return after;
}

function nextCheck(
  decision: Exclude<InstanceDecision, { readonly type: "rest" }>,
  applied: Exclude<Applied, { readonly type: "failed" }>,
): NextCheck {
  if (applied.type === "early") return { afterMs: RECHECK_MS.early };
  if (applied.type === "stale" || isDiscarded(applied.status)) return "requeue";
  if (applied.status.type === "gone") return "onChange";
  if (applied.type === "refused") return { afterMs: applied.recheckMs };
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

function isDiscarded({ type }: StatusOutcome): boolean {
  return type === "discarded";
}

interface PassEnd {
  readonly succeeded: boolean;
  readonly troubles: Troubles;
}

const COMPONENTS = ["postgres", "metadata", "gateway"] as const;

function recordPass(instance: Instance, { succeeded, troubles }: PassEnd, { metrics, nowMs }: PassDeps): void {
  const { namespace, name } = identityOf(instance);
  metrics.passEnded({
    instance: { namespace, name },
    id: instance.spec.id ?? "",
    postgresMode: instance.spec.metadata.postgres === undefined ? "internal" : "external",
    status: instance.status,
    stuck: COMPONENTS.filter((component) => troubles[component] !== undefined),
    succeeded,
    nowMs: nowMs(),
  });
}

function newAccountId({ nowMs }: PassDeps): string {
  return makeUlid(nowMs(), randomBytes(ULID_RANDOM_BYTES));
}

function newPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString("hex");
}
