// A held deletion: whether the instance can still be reconciled, and the message of its condition. Pure.
import { ANNOTATION } from "../../api/labels.ts";
import type { Instance } from "../model/children.ts";
import type { InstanceIdentity } from "../model/names.ts";

/** The garbage collector deletes the instance's objects: reconciling would work against it. */
export function isForeground({ metadata }: Instance): boolean {
  return metadata?.finalizers?.includes("foregroundDeletion") === true;
}

const SHOWN = 5;

/** `insistence`: the value of the annotation that would release the deletion. */
export function heldMessage(
  engines: readonly string[],
  { namespace, name }: InstanceIdentity,
  insistence?: string,
): string {
  const rest = engines.length - SHOWN;
  const shown = `${engines.slice(0, SHOWN).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  const [who, what] = engines.length === 1 ? ["engine uses", "it is"] : ["engines use", "they are"];
  return (
    `${ignoredText(insistence)}the instance was deleted, but ${engines.length} ${who} it: ${shown}; nothing is deleted and everything keeps running until ${what} ` +
    `deleted: kubectl delete fireboltengine ${engines.slice(0, SHOWN).join(" ")} -n ${namespace}; or delete the instance while they use it: ` +
    `kubectl annotate fireboltinstance ${name} -n ${namespace} --overwrite ${ANNOTATION.deleteDespiteEngines}=true; in both cases the ` +
    "catalogue of a built-in PostgreSQL is deleted with the instance, unless volumeRetention is Retain, which can still be set: kubectl " +
    `patch fireboltinstance ${name} -n ${namespace} --type merge -p '${RETAIN}'`
  );
}

const RETAIN = JSON.stringify({ spec: { metadata: { builtInPostgres: { volumeRetention: "Retain" } } } });

/** At the beginning of the message: a person who has just set the annotation, without effect, looks for it. */
function ignoredText(insistence: string | undefined): string {
  if (insistence === undefined || insistence === "true") return "";
  return `the annotation ${ANNOTATION.deleteDespiteEngines} is ignored: ${JSON.stringify(insistence)} is not "true". `;
}
