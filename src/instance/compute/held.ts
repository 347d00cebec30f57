// What a held deletion looks like: whether anything can be kept up, and what the condition says. Pure.
import { ANNOTATION } from "../../api/labels.ts";
import type { Instance } from "../children.ts";
import type { InstanceIdentity } from "../names.ts";

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
    `kubectl annotate fireboltinstance ${name} -n ${namespace} ${ANNOTATION.deleteDespiteEngines}=true`
  );
}
