// Makes the writes of a decision, step by step and in order. Every write is one awaited call; a crash between any two
// repeats the pass. What a failed write means for the status is decided in compute.
import { isForbidden, type Logger } from "@firebolt-operator/kube";
import { ANNOTATION } from "../../api/labels.ts";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import { retainedFor } from "../database/retention.ts";
import { CHILDREN } from "../model/child-kinds.ts";
import { viewChild } from "../model/children.ts";
import type { FailedWrite, Step, Write, WritingDecision } from "../model/decision.ts";
import type { InstanceMemory } from "../model/memory.ts";
import { credentialsSecretName } from "../model/names.ts";
import { ChildWriteError, isNotLeader, isPermanentRejection, isRejection, problemOf } from "../model/rejection.ts";
import type { InstanceSnapshot } from "../model/snapshot.ts";
import { renderCredentialsSecret } from "../render/credentials-secret.ts";
import { createObject, type Made, type Restored, rehearse, updateObject, wrapped } from "./write-object.ts";

export interface ApplyDeps {
  readonly cluster: InstanceCluster;
  readonly memory: InstanceMemory;
  readonly logger: Logger;
  readonly newPassword: () => string;
  readonly onCredentialsCreated: () => void;
  readonly onRestored: (restored: Restored) => void;
}

/** How the writes of a decision ended. */
export type Written =
  | { readonly type: "done" }
  /** The state that was read has changed meanwhile: the next pass reads it again. */
  | { readonly type: "stale" }
  /** A part of the API server has not yet observed what was stored a moment ago: the next pass continues from there. */
  | { readonly type: "early" }
  | { readonly type: "failed"; readonly failures: readonly WriteFailure[] };

export interface WriteFailure extends FailedWrite {
  readonly error: unknown;
}

/**
 * Makes the writes of every step in order. Stops at the first failure that is no rejection: without a response the
 * others fail too.
 */
export async function applyWrites(decision: WritingDecision, s: InstanceSnapshot, deps: ApplyDeps): Promise<Written> {
  const failures: WriteFailure[] = [];
  for (const step of "steps" in decision ? decision.steps : []) {
    for (const write of step.writes) {
      if (dependsOnFailure(step, write, failures)) continue;
      try {
        const made = await makeWrite(write, s, deps);
        if (made !== "made") return { type: made };
      } catch (error) {
        if (deps.cluster.signal.aborted || isNotLeader(error)) throw error;
        failures.push({ step, error, message: messageOf(error), isPermanent: isPermanentRejection(error) });
        if (!isRejection(error)) return { type: "failed", failures };
      }
    }
  }
  return failures.length > 0 ? { type: "failed", failures } : { type: "done" };
}

function messageOf(error: unknown): string {
  return error instanceof ChildWriteError ? error.message : problemOf(error);
}

/**
 * After a rejected write the rest of its component waits: a Deployment must not roll to a ConfigMap that was not
 * stored. Independent kinds are written all the same.
 */
function dependsOnFailure({ component }: Step, write: Write, failures: readonly FailedWrite[]): boolean {
  const isIndependent =
    (write.type === "create" || write.type === "update") && CHILDREN[write.object.kind].isIndependent;
  return !isIndependent && failures.some(({ step }) => step.component === component);
}

async function makeWrite(write: Write, s: InstanceSnapshot, deps: ApplyDeps): Promise<Made> {
  const { cluster, logger } = deps;
  const { identity } = s;
  switch (write.type) {
    case "createCredentials": {
      const retained = retainedFor(s.instance.spec);
      const outcome = await cluster.createSecret(renderCredentialsSecret(identity, deps.newPassword(), retained));
      // Another writer was faster: its Secret must be verified before it is used.
      if (outcome === "exists") return "stale";
      logger.info("credentials created", { secret: credentialsSecretName(identity.name) });
      deps.onCredentialsCreated();
      return "made";
    }
    case "retainCredentials": {
      const annotations = { [ANNOTATION.accountId]: retainedFor(s.instance.spec) ?? "" };
      const key = { namespace: identity.namespace, name: credentialsSecretName(identity.name) };
      const outcome = await cluster.releaseSecret(key, { uid: write.uid, owner: identity.uid, annotations });
      if (outcome === "conflict") return "stale";
      logger.info("credentials retained", { secret: key.name });
      return "made";
    }
    case "growClaim":
      return growClaim(write, s, deps);
    case "guardPostgres":
      return guardPostgres(write, s, deps);
    case "create":
      return createObject(write, identity, deps);
    case "update":
      return updateObject(write, deps);
    case "remove": {
      const { kind, name } = write.removal;
      const outcome = await cluster.remove(identity.namespace, write.removal);
      if (outcome === "conflict") return "stale";
      if (write.wish !== undefined) deps.memory.remadeFor = write.wish;
      for (const key of deps.memory.seen) if (key === `${kind}/${name}`) deps.memory.seen.delete(key);
      logger.info("unused object deleted", { kind, object: name });
      return "made";
    }
    case "rehearse":
      await rehearse(write.object, cluster);
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

async function guardPostgres(
  { name, uid, guard }: Extract<Write, { type: "guardPostgres" }>,
  { identity }: InstanceSnapshot,
  { cluster, logger }: ApplyDeps,
): Promise<Made> {
  const key = { namespace: identity.namespace, name };
  try {
    if ((await cluster.guardPostgres(key, uid, guard)) === "conflict") return "stale";
  } catch (error) {
    throw wrapped("StatefulSet", name, error);
  }
  logger.info("PostgreSQL kept from starting on an empty volume", {
    statefulSet: name,
    run: guard.run,
    lostClaim: guard.lostClaim,
  });
  return "made";
}

/** A rejection leaves a volume that works: the next pass continues without the growth. */
async function growClaim(
  { name, uid, size }: Extract<Write, { type: "growClaim" }>,
  { identity, nowMs }: InstanceSnapshot,
  { cluster, memory, logger }: ApplyDeps,
): Promise<Made> {
  const key = { namespace: identity.namespace, name };
  try {
    if ((await cluster.growClaim(key, uid, size)) === "conflict") return "stale";
  } catch (error) {
    if (!isRejection(error)) throw wrapped("PersistentVolumeClaim", name, error);
    memory.growth = { uid, size, problem: problemOf(error), rejectedMs: nowMs };
    logger.error("claim not grown", error, { claim: name, size });
    return "stale";
  }
  delete memory.growth;
  delete memory.claim;
  logger.info("claim grown", { claim: name, size });
  return "made";
}

/** An object that cannot be deleted is unused, and is garbage collected with the instance. */
async function retire(
  { kind, name }: Extract<Write, { type: "retire" }>,
  { identity }: InstanceSnapshot,
  { cluster, logger }: ApplyDeps,
): Promise<void> {
  const { namespace, uid: owner } = identity;
  try {
    const found = viewChild(await cluster.readChild(kind, { namespace, name }), owner);
    const uid = found.type === "live" ? found.object.metadata.uid : undefined;
    if (uid === undefined) return;
    await cluster.remove(namespace, { kind, name, uid });
    logger.info("unused object deleted", { kind, object: name });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    logger.info("unused object kept: the operator no longer has permission to delete it", { kind, object: name });
  }
}
