// Retains the credentials of the built-in PostgreSQL when their instance is deleted. They lose their owner before the
// finalizer is removed, even if an earlier pass could not do it: with an owner they would be garbage collected, and the
// retained volume could not be opened.
import type { Logger } from "@firebolt-operator/kube";
import { ANNOTATION } from "../../api/labels.ts";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import { retainedFor } from "../database/retention.ts";
import { type Instance, identityOf, isOwnedBy, type Secret } from "../model/children.ts";
import { credentialsSecretName } from "../model/names.ts";
import { resolveAccountId } from "../pass/account-id.ts";

/** Whether they, and the volume that they open, were retained for another account than the instance's. */
export function isForAnother(secret: Secret | undefined, { metadata, spec }: Instance): boolean {
  const account = accountOf(secret);
  return account !== "" && account !== spec.id && !isOwnedBy(secret?.metadata, metadata?.uid ?? "");
}

/** Before the first object is deleted: the ConfigMap may be all that still knows the account. */
export async function retainCredentials(
  cluster: Pick<InstanceCluster, "releaseSecret" | "readConfigMap" | "readSecret">,
  instance: Instance,
  secret: Secret | undefined,
  logger: Logger,
): Promise<void> {
  const retained = retainedFor(instance.spec);
  const { uid, deletionTimestamp, ownerReferences = [] } = secret?.metadata ?? {};
  if (retained === undefined || uid === undefined || deletionTimestamp !== undefined) return;
  if (isForAnother(secret, instance)) return;
  const { namespace, name, uid: owner } = identityOf(instance);
  const isOwned = ownerReferences.some((reference) => reference.uid === owner);
  if (!isOwned && accountOf(secret) !== "") return;
  const id = retained === "" ? await formerId(cluster, instance) : retained;
  const key = { namespace, name: credentialsSecretName(name) };
  const annotations = id === "" ? {} : { [ANNOTATION.accountId]: id };
  if ((await cluster.releaseSecret(key, { uid, owner, annotations })) === "conflict")
    throw new Error(`Secret ${key.name} was replaced meanwhile`);
  logger.info("credentials retained", { secret: key.name });
}

function accountOf(secret: Secret | undefined): string {
  return secret?.metadata?.annotations?.[ANNOTATION.accountId] ?? "";
}

async function formerId(
  cluster: Pick<InstanceCluster, "readConfigMap" | "readSecret">,
  instance: Instance,
): Promise<string> {
  const found = await resolveAccountId(cluster, instance, () => "");
  return found.type === "known" ? found.id : "";
}
