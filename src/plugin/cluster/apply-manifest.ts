// Applies a manifest with the plugin's field manager. A conflict with another manager is an error that names the
// fields, their managers and the next step, unless the user overwrites them.
import { isFieldConflict, KubeApiError, type KubeObject, type ResourceType } from "@firebolt-operator/kube";
import { CommandError, EXIT } from "../command-line/exit-codes.ts";
import type { Cluster } from "./cluster.ts";
import { FIELD_MANAGER } from "./kubectl.ts";

export interface ApplyOptions {
  /** Take the fields over. */
  readonly force?: boolean;
  /** The next step after a conflict. */
  readonly wayOut: string;
}

/** What is applied is a manifest; what it becomes is an object. */
export async function applyManifest(
  { client, call }: Cluster,
  type: ResourceType,
  manifest: KubeObject,
  { force = false, wayOut }: ApplyOptions,
): Promise<KubeObject> {
  try {
    return await client.apply<KubeObject>(type, manifest, { ...call, fieldManager: FIELD_MANAGER, force });
  } catch (error) {
    if (!(error instanceof KubeApiError) || !isFieldConflict(error)) throw error;
    const { name, namespace } = manifest.metadata ?? {};
    const where = namespace === undefined ? "" : ` in namespace ${JSON.stringify(namespace)}`;
    const fields = error.causes.map(({ field, message }) => `\n  ${field ?? ""}: ${message ?? ""}`).join("");
    throw new CommandError(
      `${type.kind} ${JSON.stringify(name)} already exists${where}, and others manage fields that this would change:${fields}\n${wayOut}`,
      EXIT.refused,
    );
  }
}
