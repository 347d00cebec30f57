// The deletion of an instance that engines use is held: without its metadata service and gateway they are cut off, and a deletion cannot be
// taken back. Until the engines are deleted, or somebody insists, everything goes on as before.
import { insistsOnDeletion } from "../../api/held-deletion.ts";
import { ANNOTATION } from "../../api/labels.ts";
import { type Instance, identityOf } from "../children.ts";
import { canHaveChildren, type InstanceIdentity } from "../names.ts";
import type { InstanceWorld } from "../world.ts";
import { isOrphaning } from "./delete-instance.ts";

/** Names of the engines that hold the deletion, in alphabetical order; empty: nothing does. */
export async function observeHold(
  world: Pick<InstanceWorld, "engines" | "listEngines">,
  instance: Instance,
): Promise<readonly string[]> {
  // With `--cascade=orphan` every object stays, and of such a name there is none.
  const key = identityOf(instance);
  if (insistsOnDeletion(instance) || isOrphaning(instance) || !canHaveChildren(key.name)) return [];
  const cached = world.engines(key);
  // That there is none decides: a watch selector may hide engines from the cache.
  return [...(cached.length > 0 ? cached : await world.listEngines(key))].sort();
}

/** The garbage collector deletes what the instance owns by itself: nothing can be kept up. */
export function isForeground({ metadata }: Instance): boolean {
  return metadata?.finalizers?.includes("foregroundDeletion") === true;
}

const SHOWN = 5;

export function heldMessage(engines: readonly string[], { namespace, name }: InstanceIdentity): string {
  const rest = engines.length - SHOWN;
  const shown = `${engines.slice(0, SHOWN).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  const [who, what] = engines.length === 1 ? ["engine uses", "it is"] : ["engines use", "they are"];
  return (
    `the instance was deleted, but ${engines.length} ${who} it: ${shown}; nothing is deleted and everything goes on until ${what} ` +
    `deleted: kubectl delete fireboltengine ${engines.slice(0, SHOWN).join(" ")} -n ${namespace}; or delete the instance under them: ` +
    `kubectl annotate fireboltinstance ${name} -n ${namespace} ${ANNOTATION.deleteWithEngines}=true`
  );
}
