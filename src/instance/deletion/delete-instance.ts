// The deletion of an instance (docs/design/instance.md#deletion): deletes its objects, collects failures, and removes
// the finalizer last and only when every delete was accepted. Whether engines hold it is decided before
// (observe-hold.ts).
import { type Logger, NotLeaderError } from "@firebolt-operator/kube";
import type { NextCheck } from "@firebolt-operator/kube/controller";
import { INSTANCE_NAMES } from "../../api/group.ts";
import { ANNOTATION } from "../../api/labels.ts";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import { retainedFor } from "../database/retention.ts";
import { CHILD_KINDS, CHILDREN } from "../model/child-kinds.ts";
import { type ChildKind, type ChildReference, type Instance, identityOf, isOwnedBy } from "../model/children.ts";
import { canHaveChildren, credentialsSecretName, postgresName } from "../model/names.ts";
import { isForAnother, retainCredentials } from "./retain-credentials.ts";

export interface DeletionDeps {
  readonly logger: Logger;
  /**
   * Whether the operator has permissions on Roles. An existing Role is garbage collected with its owner, the instance.
   */
  readonly managesRoles: boolean;
}

export async function deleteInstance(
  cluster: InstanceCluster,
  instance: Instance,
  { logger, managesRoles }: DeletionDeps,
): Promise<NextCheck> {
  if (instance.metadata?.finalizers?.includes(INSTANCE_NAMES.finalizer) !== true) return "onChange";
  const { namespace, name } = identityOf(instance);
  // With `--cascade=orphan` everything is kept, and the garbage collector removes the owner references.
  const hasAny = canHaveChildren(name) && !isOrphaning(instance);
  const secret = hasAny ? await cluster.readSecret({ namespace, name: credentialsSecretName(name) }) : undefined;
  await retainCredentials(cluster, instance, secret, logger);
  const keepsVolume = retainedFor(instance.spec) !== undefined || isForAnother(secret, instance);
  const errors: unknown[] = [];
  let deleted = 0;
  for (const kind of (hasAny ? CHILD_KINDS : []).filter((each) => isToDelete(each, { managesRoles, keepsVolume })))
    deleted += await deleteKind(cluster, instance, kind, { errors, logger });
  // All of them are tried before the first failure counts; the finalizer stays until all are deleted.
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} of the instance's objects could not be deleted`, {
      cause: errors[0],
    });
  await cluster.removeFinalizer(instance);
  logger.info("instance deleted", { children: deleted });
  return "onChange";
}

/**
 * The finalizer with which Kubernetes marks a deletion whose dependents are kept (`kubectl delete --cascade=orphan`).
 */
const ORPHAN = "orphan";

export function isOrphaning({ metadata }: Instance): boolean {
  return metadata?.finalizers?.includes(ORPHAN) === true;
}

interface Scope {
  readonly managesRoles: boolean;
  readonly keepsVolume: boolean;
}

function isToDelete(kind: ChildKind, { managesRoles, keepsVolume }: Scope): boolean {
  if (CHILDREN[kind].needsRoles) return managesRoles;
  return kind !== "PersistentVolumeClaim" || !keepsVolume;
}

interface Trouble {
  readonly errors: unknown[];
  readonly logger: Logger;
}

async function deleteKind(
  cluster: InstanceCluster,
  instance: Instance,
  kind: ChildKind,
  trouble: Trouble,
): Promise<number> {
  const identity = identityOf(instance);
  let deleted = 0;
  try {
    for (const child of await cluster.listLabelled(kind, identity)) {
      if (!isOursToDelete(child, instance)) continue;
      if (await deleteChild(cluster, child, trouble)) deleted += 1;
    }
  } catch (error) {
    collect(cluster, error, trouble.errors);
    trouble.logger.error("objects of the instance could not be listed", error, { kind });
  }
  return deleted;
}

async function deleteChild(cluster: InstanceCluster, child: ChildReference, trouble: Trouble): Promise<boolean> {
  const { kind } = child;
  const { namespace = "", name, uid, deletionTimestamp } = child.metadata;
  if (deletionTimestamp !== undefined || name === undefined || uid === undefined) return false;
  try {
    // An object that has replaced it was not in the list: the next pass finds it.
    if ((await cluster.remove(namespace, { kind, name, uid })) === "conflict")
      throw new Error(`${kind} ${name} was replaced meanwhile`);
    return true;
  } catch (error) {
    collect(cluster, error, trouble.errors);
    trouble.logger.error("an object of the instance could not be deleted", error, { kind, object: name });
    return false;
  }
}

/**
 * The label finds objects, and the owner decides: labels are copied with manifests. Claims have no owner; their name
 * shows the StatefulSet.
 */
function isOursToDelete({ kind, metadata }: ChildReference, instance: Instance): boolean {
  const { name, uid } = identityOf(instance);
  if (kind === "Secret" && metadata.name === credentialsSecretName(name)) return isOwnCredentials(metadata, instance);
  if (kind === "PersistentVolumeClaim") return metadata.name?.startsWith(`data-${postgresName(name)}-`) === true;
  return isOwnedBy(metadata, uid);
}

/** Credentials that were retained once have no owner; their account id shows whether they belong to the instance. */
function isOwnCredentials(metadata: ChildReference["metadata"], { metadata: own, spec }: Instance): boolean {
  if (retainedFor(spec) !== undefined) return false;
  const account = metadata.annotations?.[ANNOTATION.accountId];
  return isOwnedBy(metadata, own?.uid ?? "") || (account !== undefined && account === spec.id);
}

/** A process that shuts down, or is no longer the leader, must not continue with the next object. */
function collect(cluster: InstanceCluster, error: unknown, errors: unknown[]): void {
  if (cluster.signal.aborted || error instanceof NotLeaderError) throw error;
  errors.push(error);
}
