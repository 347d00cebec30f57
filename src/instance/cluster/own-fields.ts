// Takes over the fields of an object that this operator created. A create records its fields under the operation
// Update, and a server-side apply removes only fields that an earlier apply recorded: without this step, a field that a
// user removes from a template would stay on the object forever.
import type { KubeObject, ObjectKey, ResourceType } from "@firebolt-operator/kube";
import type { KubeClient, WriteOptions } from "@firebolt-operator/kube/client";
import { FIELD_MANAGER } from "../../api/group.ts";
import { isObject } from "../../podtemplate/shapes/shape.ts";

/**
 * Rejects with a conflict when the object changed between the read and the write. An object with another uid is not
 * changed. Returns the field manager that last wrote it, besides the operator and Kubernetes itself.
 */
export async function claimCreatedFields(
  client: Pick<KubeClient, "get" | "patch">,
  type: ResourceType<KubeObject>,
  { namespace, name, uid }: ObjectKey & { readonly uid: string },
  write: WriteOptions,
): Promise<string | undefined> {
  const key = namespace === undefined ? { name } : { namespace, name };
  const call = write.signal === undefined ? {} : { signal: write.signal };
  const { metadata } = await client.get(type, key, call);
  const managedFields = claimedFields(metadata?.managedFields ?? [], FIELD_MANAGER);
  const editor = newestEditor(metadata?.managedFields ?? []);
  if (managedFields === undefined || metadata?.uid !== uid) return editor;
  const body = { metadata: { resourceVersion: metadata.resourceVersion, managedFields } };
  await client.patch(type, key, { type: "merge", body }, write);
  return editor;
}

const KUBERNETES = "kube-controller-manager";

/** The field manager of the newest change that is neither the operator's nor of a controller of Kubernetes. */
export function newestEditor(managedFields: readonly unknown[]): string | undefined {
  const foreign = managedFields
    .filter(isObject)
    .flatMap(({ manager, subresource, time }) =>
      typeof manager !== "string" || manager === FIELD_MANAGER || manager === KUBERNETES || subresource === "status"
        ? []
        : [{ manager, ms: typeof time === "string" ? Date.parse(time) : 0 }],
    );
  return foreign.toSorted((a, b) => b.ms - a.ms)[0]?.manager;
}

/**
 * The list with the manager's fields of other operations recorded as applied; undefined when there is nothing to
 * change.
 */
export function claimedFields(managedFields: readonly unknown[], manager: string): readonly unknown[] | undefined {
  const entries = managedFields.filter(isObject);
  const own = entries.filter((entry) => entry["manager"] === manager && (entry["subresource"] ?? "") === "");
  const written = own.filter(({ operation }) => operation === "Update");
  const [first] = written;
  if (first === undefined) return undefined;
  const applied = own.find(({ operation }) => operation === "Apply");
  const fields = [...written, ...(applied === undefined ? [] : [applied])].map(({ fieldsV1 }) => fieldsV1);
  const claimed = { ...(applied ?? first), operation: "Apply", fieldsV1: fields.reduce(merged, {}) };
  return [claimed, ...entries.filter((entry) => !written.includes(entry) && entry !== applied)];
}

/** The union of two field sets: nested objects whose keys are the fields. */
function merged(one: unknown, other: unknown): Record<string, unknown> {
  const sum: Record<string, unknown> = isObject(one) ? { ...one } : {};
  for (const [key, value] of Object.entries(isObject(other) ? other : {})) sum[key] = merged(sum[key], value);
  return sum;
}
