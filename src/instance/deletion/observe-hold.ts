// The deletion of an instance that engines use is held: without its metadata service and gateway they are cut off, and
// a deletion cannot be undone. Until the engines are deleted, or the annotation overrides it, the instance is
// reconciled as before.
import { isNotFound } from "@firebolt-operator/kube";
import { insistsOnDeletion } from "../../api/firebolt-instance/held-deletion.ts";
import { ANNOTATION } from "../../api/labels.ts";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import { type Instance, identityOf } from "../model/children.ts";
import { canHaveChildren, type InstanceIdentity } from "../model/names.ts";
import { problemOf, UnknownHoldError } from "../model/rejection.ts";
import { isOrphaning } from "./delete-instance.ts";

/** Names of the engines that hold the deletion, in alphabetical order; empty: none does. */
export async function observeHold(
  cluster: Pick<InstanceCluster, "engines" | "listEngines">,
  instance: Instance,
): Promise<readonly string[]> {
  // With `--cascade=orphan` every object is kept, and an instance with such a name has none.
  const key = identityOf(instance);
  if (insistsOnDeletion(instance) || isOrphaning(instance) || !canHaveChildren(key.name)) return [];
  const cached = cluster.engines(key);
  // An empty result decides, so it is confirmed: a watch selector may exclude engines from the cache.
  return [...(cached.length > 0 ? cached : await listed(cluster, key))].sort();
}

async function listed(
  cluster: Pick<InstanceCluster, "listEngines">,
  key: InstanceIdentity,
): Promise<readonly string[]> {
  try {
    return await cluster.listEngines(key);
  } catch (error) {
    // The kind itself is not served: without its CRD there can be no engine. An empty list would be a response without
    // items.
    if (isNotFound(error)) return [];
    throw new UnknownHoldError(
      `the instance was deleted, but whether engines use it is unknown, so nothing is deleted: ${problemOf(error)}; to delete it ` +
        `anyway: kubectl annotate fireboltinstance ${key.name} -n ${key.namespace} --overwrite ${ANNOTATION.deleteDespiteEngines}=true`,
      { cause: error },
    );
  }
}
