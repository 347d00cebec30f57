// Carries a decision out: the writes of every step in order, the status last. A rejected write never hides what the pass observed:
// the status shows both. Every write is one awaited call; a crash between any two repeats the pass.
import { isForbidden, type Logger } from "@firebolt-operator/kube";
import type { InstanceStatus } from "../api/instance-status.ts";
import { ANNOTATION } from "../api/labels.ts";
import { type Instance, viewChild } from "./children.ts";
import { nextStatus } from "./compute/next-status.ts";
import { retainedFor } from "./database/retention.ts";
import { type Finding, type InstanceDecision, RECHECK_MS, type Step, type Write } from "./decision.ts";
import type { InstanceMemory } from "./memory.ts";
import { credentialsSecretName } from "./names.ts";
import { ChildWriteError, isNotLeader, isPermanentRefusal, isRefusal, problemOf } from "./refusal.ts";
import { renderCredentialsSecret } from "./render/credentials-secret.ts";
import type { InstanceSnapshot } from "./snapshot.ts";
import { type StatusOutcome, writeStatus } from "./status-write.ts";
import type { InstanceWorld } from "./world.ts";
import { createObject, type Made, type Restored, rehearse, updateObject, wrapped } from "./write-object.ts";

export interface ApplyDeps {
  readonly world: InstanceWorld;
  readonly memory: InstanceMemory;
  readonly logger: Logger;
  readonly newPassword: () => string;
  readonly onCredentialsCreated: () => void;
  readonly onRestored: (restored: Restored) => void;
}

export type Applied =
  | { readonly type: "done"; readonly status: StatusOutcome }
  /** What was read is no longer so: the next pass starts afresh. */
  | { readonly type: "stale" }
  /** What was written a moment ago is not known everywhere yet: the next pass goes on from there. */
  | { readonly type: "early" }
  /** The API server rejects objects: the status shows them, and they are tried again after `recheckMs`. */
  | {
      readonly type: "refused";
      readonly errors: readonly unknown[];
      readonly status: StatusOutcome;
      readonly recheckMs: number;
    }
  /** Anything else that fails, from the network to a status that cannot be stored. */
  | { readonly type: "failed"; readonly error: unknown; readonly status: StatusOutcome };

/** After this many passes in a row, a permanent refusal counts as final. */
const REFUSALS_UNTIL_FAILED = 3;

type Written = Exclude<InstanceDecision, { readonly type: "rest" }>;

interface Failure {
  readonly step: Step;
  readonly error: unknown;
}

export async function applyDecision(decision: Written, s: InstanceSnapshot, deps: ApplyDeps): Promise<Applied> {
  const failures: Failure[] = [];
  for (const step of "steps" in decision ? decision.steps : []) {
    for (const write of step.writes) {
      if (dependsOnFailure(step, write, failures)) continue;
      try {
        const made = await makeWrite(write, s, deps);
        if (made !== "made") return { type: made };
      } catch (error) {
        failures.push({ step, error });
        // Without a response from the API server the other writes would fail as well.
        if (!isRefusal(error)) return reportFailures(failures, decision, s, deps);
      }
    }
  }
  if (failures.length > 0) return reportFailures(failures, decision, s, deps);
  delete deps.memory.refusals;
  return { type: "done", status: await writeStatus(deps.world, s.instance, decision.status) };
}

/**
 * After a rejected write the rest of its component waits: a Deployment must not roll to a ConfigMap that was not stored. Services and
 * budgets build on nothing, and running pods need them whatever else is rejected.
 */
function dependsOnFailure({ component }: Step, write: Write, failures: readonly Failure[]): boolean {
  const standsAlone =
    (write.type === "create" || write.type === "update") &&
    (write.object.kind === "Service" || write.object.kind === "PodDisruptionBudget");
  return !standsAlone && failures.some(({ step }) => step.component === component);
}

async function makeWrite(write: Write, s: InstanceSnapshot, deps: ApplyDeps): Promise<Made> {
  const { world, logger } = deps;
  const { identity } = s;
  switch (write.type) {
    case "createCredentials": {
      const retained = retainedFor(s.instance.spec);
      const outcome = await world.createSecret(renderCredentialsSecret(identity, deps.newPassword(), retained));
      // Another writer was faster: its Secret must be verified before anything is built on it.
      if (outcome === "exists") return "stale";
      logger.info("credentials created", { secret: credentialsSecretName(identity.name) });
      deps.onCredentialsCreated();
      return "made";
    }
    case "retainCredentials": {
      const annotations = { [ANNOTATION.accountId]: retainedFor(s.instance.spec) ?? "" };
      const key = { namespace: identity.namespace, name: credentialsSecretName(identity.name) };
      const outcome = await world.releaseSecret(key, { uid: write.uid, owner: identity.uid, annotations });
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
      const outcome = await world.remove(identity.namespace, write.removal);
      if (outcome === "conflict") return "stale";
      if (write.wish !== undefined) deps.memory.remadeFor = write.wish;
      for (const key of deps.memory.seen) if (key === `${kind}/${name}`) deps.memory.seen.delete(key);
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

async function guardPostgres(
  { name, uid, guard }: Extract<Write, { type: "guardPostgres" }>,
  { identity }: InstanceSnapshot,
  { world, logger }: ApplyDeps,
): Promise<Made> {
  const key = { namespace: identity.namespace, name };
  try {
    if ((await world.guardPostgres(key, uid, guard)) === "conflict") return "stale";
  } catch (error) {
    throw wrapped("StatefulSet", name, error);
  }
  logger.info("no empty catalogue is started", { statefulSet: name, run: guard.run, lostClaim: guard.lostClaim });
  return "made";
}

/** A rejection leaves a volume that works: the pass begins again and goes on without. */
async function growClaim(
  { name, uid, size }: Extract<Write, { type: "growClaim" }>,
  { identity, nowMs }: InstanceSnapshot,
  { world, memory, logger }: ApplyDeps,
): Promise<Made> {
  const key = { namespace: identity.namespace, name };
  try {
    if ((await world.growClaim(key, uid, size)) === "conflict") return "stale";
  } catch (error) {
    if (!isRefusal(error)) throw wrapped("PersistentVolumeClaim", name, error);
    memory.growth = { uid, size, problem: problemOf(error), refusedMs: nowMs };
    logger.error("claim not grown", error, { claim: name, size });
    return "stale";
  }
  delete memory.growth;
  delete memory.claim;
  logger.info("claim grown", { claim: name, size });
  return "made";
}

/** An object that stays is unused, and is garbage collected with the instance. */
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

async function reportFailures(
  failures: readonly Failure[],
  decision: Written,
  s: InstanceSnapshot,
  { world, memory, logger }: ApplyDeps,
): Promise<Applied> {
  const errors = failures.map(({ error }) => error);
  const fatal = errors.find((error) => !isRefusal(error));
  if (world.signal.aborted || isNotLeader(fatal)) throw fatal ?? errors[0];
  const isPermanent = errors.some(isPermanentRefusal);
  const isFinal = countRefusal(memory, isPermanent, s.instance) >= REFUSALS_UNTIL_FAILED;
  if (isFinal) delete memory.refusals;
  const found = failures.map(findingOf);
  const rejection = found.find(({ reason }) => reason === "PostgresEnsureFailed")?.message;
  const findings = [...(decision.type === "refuse" ? [decision.finding] : []), ...found];
  const status = await bestEffort(world, s, nextStatus(s, { findings, isFinal, rejection }), logger);
  if (fatal !== undefined || status === undefined)
    return { type: "failed", error: fatal ?? errors[0], status: status ?? { type: "unchanged" } };
  return { type: "refused", errors, status, recheckMs: isPermanent ? RECHECK_MS.invalid : RECHECK_MS.refused };
}

function findingOf({ step, error }: Failure): Finding {
  const message = error instanceof ChildWriteError ? error.message : problemOf(error);
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
): Promise<StatusOutcome | undefined> {
  try {
    return await writeStatus(world, s.instance, status);
  } catch (error) {
    if (world.signal.aborted || isNotLeader(error)) throw error;
    logger.error("status not written", error);
    return undefined;
  }
}
