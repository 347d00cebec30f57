// Why the claim of the built-in PostgreSQL has no volume. The scheduler says only that it has none; the claim's own events quote whoever was to
// provide it, and name a storage class that does not exist. Storage classes themselves are the cluster's: the operator has no right to read them.
import type { Logger } from "../../kube/logger.ts";
import { stableText } from "../../pods/stable-text.ts";
import { claimName, type InstanceIdentity } from "../names.ts";
import type { ClaimView, VolumeTrouble } from "../snapshot.ts";
import type { InstanceWorld } from "../world.ts";

const FIELD = "spec.metadata.builtInPostgres.storage.storageClassName";

export interface VolumeQuestion {
  readonly claim: ClaimView | undefined;
  readonly identity: InstanceIdentity;
  readonly logger: Logger;
}

/** Undefined for a claim that has a volume, or is being deleted. */
export async function observeVolume(
  world: Pick<InstanceWorld, "listWarnings" | "signal">,
  { claim, identity, logger }: VolumeQuestion,
): Promise<VolumeTrouble | undefined> {
  if (claim === undefined || claim.volumeName !== undefined || claim.isLeaving) return undefined;
  // Without them a cause is missing, and nothing else.
  const warnings = await world.listWarnings(identity.namespace, claim.uid).catch((error: unknown) => {
    if (world.signal.aborted) throw error;
    logger.error("events of the claim could not be listed", error);
    return [];
  });
  return volumeTrouble(claim, warnings.at(-1) ?? "", identity);
}

/** `warning` is the newest of the claim's events, or empty. */
export function volumeTrouble(claim: ClaimView, warning: string, identity: InstanceIdentity): VolumeTrouble {
  const name = `PersistentVolumeClaim ${claimName(identity.name)}`;
  const [storageClass, remake] = [claim.storageClassName ?? "", remakeText(identity)];
  if (storageClass === "")
    return {
      cause: `${name} has no volume: it names no StorageClass, and the cluster has no default one${quoted(warning)}`,
      next: `set ${FIELD} to one that exists (kubectl get storageclass)${remake}; or make one the default`,
    };
  const named = JSON.stringify(storageClass);
  if (/storageclass\S* "[^"]*" not found/.test(warning))
    return {
      cause: `${name} has no volume: StorageClass ${named} does not exist`,
      next: `set ${FIELD} to one that exists (kubectl get storageclass)${remake}; or create StorageClass ${named}`,
    };
  return {
    cause: `${name} has no volume: StorageClass ${named} has not provided one${quoted(warning)}`,
    next:
      `check that it exists and can: kubectl describe storageclass ${storageClass} and kubectl describe pvc ` +
      `${claimName(identity.name)} -n ${identity.namespace}; or set ${FIELD} to another${remake}`,
  };
}

function remakeText({ namespace, name }: InstanceIdentity): string {
  return ` and delete the claim, which holds no data: kubectl delete pvc ${claimName(name)} -n ${namespace}`;
}

const quoted = (warning: string): string => (warning === "" ? "" : `: ${stableText(warning)}`);
