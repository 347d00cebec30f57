// The account id of an instance whose spec has none (no mutating webhook, or it was removed): the id in the metadata
// configuration, else that of a retained volume, else a new one. Never a second id for one instance: its data would
// belong to another account.
import { ANNOTATION } from "../../api/labels.ts";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import { type Instance, identityOf, isOwnedBy } from "../model/children.ts";
import { credentialsSecretName, metadataConfigName } from "../model/names.ts";
import { accountIdOf } from "../render/metadata-config.ts";

export type AccountId =
  | { readonly type: "known"; readonly id: string }
  /** There is a configuration, so there was an id, but it cannot be read back. */
  | { readonly type: "lost"; readonly message: string };

export async function resolveAccountId(
  cluster: Pick<InstanceCluster, "readConfigMap" | "readSecret">,
  instance: Instance,
  newId: () => string,
): Promise<AccountId> {
  const { namespace, name, uid } = identityOf(instance);
  const configMap = metadataConfigName(name);
  // Read from the API server itself: with the stale absence of a cache the instance would lose its account.
  const stored = await cluster.readConfigMap({ namespace, name: configMap });
  if (stored === undefined || !isOwnedBy(stored.metadata, uid)) {
    // A retained volume is used again, and its catalogue belongs to one account.
    const secret = await cluster.readSecret({ namespace, name: credentialsSecretName(name) });
    return { type: "known", id: secret?.metadata?.annotations?.[ANNOTATION.accountId] || newId() };
  }
  const id = accountIdOf(stored.data);
  if (id !== undefined) return { type: "known", id };
  const message = `spec.id is missing and ConfigMap ${configMap} does not contain it any more; set spec.id to the former id`;
  return { type: "lost", message };
}
