// What was found under the name of an object that an owner wants to have, and so what may be done with it. Pure: reads and writes
// happen elsewhere.

/** As much of an object's metadata as the question needs. */
export interface OwnedMetadata {
  readonly ownerReferences?: readonly { readonly controller?: boolean; readonly uid: string }[];
  readonly deletionTimestamp?: string;
}

/**
 * A terminating child no longer counts as there, but its name is still taken; a foreign one (of another owner, or of an older owner
 * of the same name) is never written and never deleted.
 */
export type Child<T> =
  | { readonly type: "absent" }
  | { readonly type: "foreign"; readonly object: T }
  | { readonly type: "terminating"; readonly object: T }
  | { readonly type: "live"; readonly object: T };

/** What was found under the name of a child that an owner wants to have. */
export function viewChild<T extends { readonly metadata?: OwnedMetadata }>(
  object: T | undefined,
  ownerUid: string,
): Child<T> {
  if (object === undefined) return { type: "absent" };
  if (!isOwnedBy(object.metadata, ownerUid)) return { type: "foreign", object };
  return object.metadata?.deletionTimestamp === undefined ? { type: "live", object } : { type: "terminating", object };
}

/** Whether the controller owner of an object has this uid. */
export function isOwnedBy(metadata: OwnedMetadata | undefined, ownerUid: string): boolean {
  return controllerUid(metadata) === ownerUid;
}

/** Who controls an object, if anybody does. */
export function controllerUid(metadata: OwnedMetadata | undefined): string | undefined {
  return metadata?.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}
