// Observes why the claim of the built-in PostgreSQL has no volume. The scheduler reports only that it has none; the
// claim's own events quote the provisioner, and name a storage class that does not exist. The operator has no right to
// read storage classes.
import type { Logger } from "@firebolt-operator/kube";
import { stableText } from "../../pods/stable-text.ts";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import type { InstanceMemory } from "../model/memory.ts";
import { claimName, type InstanceIdentity } from "../model/names.ts";
import type { ClaimView, VolumeTrouble } from "../model/snapshot.ts";

const FIELD = "spec.metadata.builtInPostgres.storage.storageClassName";

/**
 * Provisioners repeat a problem in different words (request ids, encoded messages, one zone after the other), and every
 * change of a cause is a status write and an event. A quoted warning is kept for this long, or for as long as it is
 * still among the events.
 */
const QUOTED_MS = 300_000;

export interface VolumeInput {
  readonly claim: ClaimView | undefined;
  readonly identity: InstanceIdentity;
  readonly nowMs: number;
  readonly memory: Pick<InstanceMemory, "warning">;
  readonly logger: Logger;
}

/** Undefined for a claim that has a volume, or is being deleted. */
export async function observeVolume(
  cluster: Pick<InstanceCluster, "listWarnings" | "signal">,
  { claim, identity, nowMs, memory, logger }: VolumeInput,
): Promise<VolumeTrouble | undefined> {
  if (claim === undefined || claim.volumeName !== undefined || claim.isTerminating) return undefined;
  const known = memory.warning?.uid === claim.uid ? memory.warning : undefined;
  // Without them only a cause is missing. The last known one is kept.
  const warnings = await cluster.listWarnings(identity.namespace, claim.uid).catch((error: unknown) => {
    if (cluster.signal.aborted) throw error;
    logger.error("events of the claim could not be listed", error);
    return undefined;
  });
  const text = warnings === undefined ? (known?.text ?? "") : quotable(warnings, known, nowMs);
  if (warnings !== undefined && text !== known?.text) memory.warning = { uid: claim.uid, text, quotedMs: nowMs };
  return volumeTrouble(claim, text, identity);
}

function quotable(warnings: readonly string[], known: InstanceMemory["warning"], nowMs: number): string {
  const texts = warnings.map((warning) => stableText(warning));
  const newest = texts.at(-1) ?? "";
  // Nothing was quoted so far, or the problem is of another kind.
  if (known === undefined || known.text === "" || isMissingClass(known.text) !== isMissingClass(newest)) return newest;
  const ageMs = nowMs - known.quotedMs;
  return texts.includes(known.text) || (ageMs >= 0 && ageMs < QUOTED_MS) ? known.text : newest;
}

const isMissingClass = (warning: string): boolean => /storageclass\S* "[^"]*" not found/.test(warning);

/** `warning` is the message of one of the claim's events, or empty. */
export function volumeTrouble(claim: ClaimView, warning: string, identity: InstanceIdentity): VolumeTrouble {
  const name = `PersistentVolumeClaim ${claimName(identity.name)}`;
  const [storageClass, remake] = [claim.storageClassName ?? "", remakeText(identity)];
  if (storageClass === "")
    return {
      cause: `${name} has no volume: it names no StorageClass, and the cluster has no default one${quoted(warning)}`,
      next: `set ${FIELD} to one that exists (kubectl get storageclass)${remake}; or make one the default`,
    };
  const named = JSON.stringify(storageClass);
  if (isMissingClass(warning))
    return {
      cause: `${name} has no volume: StorageClass ${named} does not exist`,
      next: `set ${FIELD} to one that exists (kubectl get storageclass)${remake}; or create StorageClass ${named}`,
    };
  return {
    cause: `${name} has no volume: StorageClass ${named} has not provisioned one${quoted(warning)}`,
    next:
      `check that it exists and that its provisioner works: kubectl describe storageclass ${storageClass} and kubectl describe pvc ` +
      `${claimName(identity.name)} -n ${identity.namespace}; or set ${FIELD} to another${remake}`,
  };
}

function remakeText({ namespace, name }: InstanceIdentity): string {
  return ` and delete the claim, which holds no data: kubectl delete pvc ${claimName(name)} -n ${namespace}`;
}

const quoted = (warning: string): string => (warning === "" ? "" : `: ${warning}`);
