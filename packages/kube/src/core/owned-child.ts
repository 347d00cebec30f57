// Classifies the object found under the name of a child that an owner wants to have, and so what may be done with it.
// Pure: reads and writes happen elsewhere.

/** The part of an object's metadata that ownership depends on. */
export interface OwnedMetadata {
  readonly ownerReferences?: readonly { readonly controller?: boolean; readonly uid: string }[];
  readonly deletionTimestamp?: string;
}

/**
 * A terminating child counts as absent, but its name is still taken. A foreign one (of another owner, or of a former
 * owner of the same name) must never be written or deleted.
 */
export type Child<T> =
  | { readonly type: "absent" }
  | { readonly type: "foreign"; readonly object: T }
  | { readonly type: "terminating"; readonly object: T }
  | { readonly type: "live"; readonly object: T };

/** Classifies the object found under the name of a child. */
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

/** The uid of the controller owner, if there is one. */
export function controllerUid(metadata: OwnedMetadata | undefined): string | undefined {
  return metadata?.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}
