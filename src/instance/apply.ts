// Carries a decision out: the writes of every step in order, the status last. The first write that fails ends the pass, and the
// status then says which one and why. Every write is one awaited call; a crash between any two repeats the pass.
import type { InstanceStatus } from "../api/instance-status.ts";
import { isForbidden, isInvalid, isNotFound, NotLeaderError } from "../kube/errors.ts";
import type { Logger } from "../kube/logger.ts";
import { type Instance, type Rendered, viewChild } from "./children.ts";
import { nextStatus } from "./compute/next-status.ts";
import type { Finding, InstanceDecision, Step, Write } from "./decision.ts";
import { isAsRendered, outcomeOf } from "./drift/as-rendered.ts";
import type { InstanceMemory } from "./memory.ts";
import { credentialsSecretName } from "./names.ts";
import { ChildWriteError, isPermanentRefusal, problemOf } from "./refusal.ts";
import { renderCredentialsSecret } from "./render/credentials-secret.ts";
import { childKey, type InstanceSnapshot } from "./snapshot.ts";
import { type StatusOutcome, writeStatus } from "./status-write.ts";
import type { InstanceWorld } from "./world.ts";

export interface ApplyDeps {
  readonly world: InstanceWorld;
  readonly memory: InstanceMemory;
  readonly logger: Logger;
  readonly newPassword: () => string;
  readonly onCredentialsCreated: () => void;
}

export type Applied =
  | { readonly type: "done"; readonly status: StatusOutcome }
  /** What was read is no longer so: the next pass starts afresh. */
  | { readonly type: "stale" }
  /** What was written a moment ago is not known everywhere yet: the next pass goes on from there. */
  | { readonly type: "early" }
  | { readonly type: "failed"; readonly error: unknown; readonly isPermanent: boolean; readonly status: StatusOutcome };

/** After this many passes in a row, a refusal counts as final. */
const REFUSALS_UNTIL_FAILED = 3;

type Written = Exclude<InstanceDecision, { readonly type: "rest" }>;

export async function applyDecision(decision: Written, s: InstanceSnapshot, deps: ApplyDeps): Promise<Applied> {
  for (const step of decision.type === "provision" ? decision.steps : []) {
    for (const write of step.writes) {
      try {
        const made = await makeWrite(write, s, deps);
        if (made !== "made") return { type: made };
      } catch (error) {
        return failed(step, error, s, deps);
      }
    }
  }
  delete deps.memory.refusals;
  return { type: "done", status: await writeStatus(deps.world, s.instance, decision.status) };
}

async function makeWrite(write: Write, s: InstanceSnapshot, deps: ApplyDeps): Promise<"made" | "stale" | "early"> {
  const { world, logger } = deps;
  const { identity } = s;
  switch (write.type) {
    case "createCredentials": {
      const answer = await world.createSecret(renderCredentialsSecret(identity, deps.newPassword()));
      // Somebody was faster: it must be looked at before anything is built on it.
      if (answer === "exists") return "stale";
      logger.info("credentials created", { secret: credentialsSecretName(identity.name) });
      deps.onCredentialsCreated();
      return "made";
    }
    case "apply":
      return applyObject(write.object, write.exists || (await isOurs(write.object, s, world)), deps);
    case "remove": {
      const { kind, name } = write.removal;
      const answer = await world.remove(identity.namespace, write.removal);
      if (answer === "conflict") return "stale";
      logger.info("unused object deleted", { kind, object: name });
      return "made";
    }
    case "rehearse":
      await rehearse(write.object, world);
      return "made";
    case "retire":
      await retire(write, s, deps);
      return "made";
    case "blocked":
      throw new ChildWriteError(write.kind, write.name, write.problem);
    default:
      return write satisfies never;
  }
}

/**
 * Caches see only what carries the instance's label. An apply would merge into a stranger's object of the same name and so take
 * it over; whether the name is really free, only the API server knows.
 */
async function isOurs(
  { kind, metadata }: Rendered,
  { identity }: InstanceSnapshot,
  world: InstanceWorld,
): Promise<boolean> {
  const { namespace, name } = metadata;
  const found = viewChild(await world.readChild(kind, { namespace, name }), identity.uid);
  if (found.type === "foreign") throw new ChildWriteError(kind, name, "belongs to another owner");
  if (found.type === "terminating") throw new ChildWriteError(kind, name, "is still being deleted");
  return found.type === "live";
}

async function rehearse(object: Rendered, world: InstanceWorld): Promise<void> {
  try {
    await world.rehearse(object);
  } catch (error) {
    throw wrapped(object, error);
  }
}

/** What stays does no harm: nothing refers to it any more, and it goes with the instance. */
async function retire(
  { kind, name }: Extract<Write, { type: "retire" }>,
  { identity }: InstanceSnapshot,
  { world, logger }: ApplyDeps,
): Promise<void> {
  const { namespace, uid: owner } = identity;
  try {
    const found = viewChild(await world.readChild(kind, { namespace, name }), owner);
    const uid = found.type === "live" ? found.object.metadata.uid : undefined;
    if (uid === undefined) return;
    await world.remove(namespace, { kind, name, uid });
    logger.info("unused object deleted", { kind, object: name });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    logger.info("an unused object is left behind: the operator has no right on it any more", { kind, object: name });
  }
}

async function applyObject(
  object: Rendered,
  exists: boolean,
  { world, memory, logger }: ApplyDeps,
): Promise<"made" | "early"> {
  const { kind, metadata } = object;
  try {
    await world.apply(object, exists);
  } catch (error) {
    if (isNotFound(error) && bindsOwnRole(object)) return "early";
    if (!exists || !isInvalid(error)) throw wrapped(object, error);
    // An apply adds to keyed lists: what somebody else put there (a port of the same name, say) can make the sum illegal.
    try {
      await world.overwrite(object);
    } catch (second) {
      throw wrapped(object, second);
    }
  }
  logger.info(exists ? "object updated" : "object created", { kind, object: metadata.name });
  noteOutcome(object, world, memory);
  return "made";
}

/**
 * The API server looks the Role up before it lets anybody bind it, and in a cache of its own: one that was written a moment ago
 * may not be there yet, and one that was there may just have been deleted. A shared ClusterRole is not ours to wait for.
 */
function bindsOwnRole(object: Rendered): boolean {
  return object.kind === "RoleBinding" && object.roleRef.kind === "Role";
}

/** Where the API server stored something else than was asked for, the next pass must not ask again. */
function noteOutcome(object: Rendered, world: InstanceWorld, { outcomes }: InstanceMemory): void {
  const { kind, metadata } = object;
  const live = world.child(kind, { namespace: metadata.namespace, name: metadata.name });
  const key = childKey(kind, metadata.name);
  if (live === undefined || isAsRendered(live, object)) outcomes.delete(key);
  else outcomes.set(key, outcomeOf(live, object));
}

function wrapped({ kind, metadata }: Rendered, error: unknown): Error {
  return new ChildWriteError(kind, metadata.name, problemOf(error), error);
}

async function failed(step: Step, error: unknown, s: InstanceSnapshot, deps: ApplyDeps): Promise<Applied> {
  const { world, memory, logger } = deps;
  if (world.signal.aborted || isNotLeader(error)) throw error;
  const isPermanent = isPermanentRefusal(error instanceof Error ? (error.cause ?? error) : error);
  const isFinal = countRefusal(memory, isPermanent, s.instance) >= REFUSALS_UNTIL_FAILED;
  if (isFinal) delete memory.refusals;
  const message = error instanceof ChildWriteError ? error.message : problemOf(error);
  const finding = findingOf(step, message);
  const status = await bestEffort(world, s, nextStatus(s, { finding, isFinal }), logger);
  return { type: "failed", error, isPermanent, status };
}

function findingOf(step: Step, message: string): Finding {
  return step.component === "metadata"
    ? { component: "metadata", reason: step.failure, message }
    : { component: "gateway", reason: step.failure, message };
}

function countRefusal(memory: InstanceMemory, isPermanent: boolean, { metadata }: Instance): number {
  const generation = metadata?.generation ?? 0;
  if (!isPermanent) {
    delete memory.refusals;
    return 0;
  }
  const count = (memory.refusals?.generation === generation ? memory.refusals.count : 0) + 1;
  memory.refusals = { generation, count };
  return count;
}

/** The write that failed is what matters; a status that cannot be stored either must not hide it. */
async function bestEffort(
  world: InstanceWorld,
  s: InstanceSnapshot,
  status: InstanceStatus,
  logger: Logger,
): Promise<StatusOutcome> {
  try {
    return await writeStatus(world, s.instance, status);
  } catch (error) {
    if (world.signal.aborted || isNotLeader(error)) throw error;
    logger.error("status not written", error);
    return { type: "discarded" };
  }
}

function isNotLeader(error: unknown): boolean {
  return error instanceof NotLeaderError || (error instanceof Error && error.cause instanceof NotLeaderError);
}
