// The status of objects of one kind in the API server: written as a merge patch of what changed, and only over the
// version that the caller read.
import type { KubeClient, WriteOptions } from "../client/client.ts";
import { changedFields } from "../core/changed-fields.ts";
import { isConflict, isNotFound } from "../core/errors.ts";
import { type KubeObject, keyOf } from "../core/object.ts";
import type { ResourceType } from "../core/resource.ts";

/** The result of one attempt to write a status. */
export type StatusWrite<T> =
  | { readonly type: "written"; readonly object: T }
  /** The object is no longer the version that was read. */
  | { readonly type: "conflict" }
  | { readonly type: "gone" };

/** Reads an object and writes its status. */
export interface StatusStore<T, S> {
  /** The object as the API server has it now, not as a cache does. */
  read(object: T): Promise<T | undefined>;
  write(object: T, status: S): Promise<StatusWrite<T>>;
}

/** The status subresource of a kind. The options (signal, field manager) apply to every call. */
export function statusStore<T extends KubeObject & { status?: S }, S extends object>(
  client: Pick<KubeClient, "find" | "patch">,
  type: ResourceType<T>,
  options: WriteOptions = {},
): StatusStore<T, S> {
  return {
    read: (object) => client.find(type, keyOf(object), options),
    async write(object, status) {
      const metadata = { resourceVersion: object.metadata?.resourceVersion };
      const body = { metadata, status: changedFields(object.status, status) };
      try {
        const patch = { type: "merge", body } as const;
        const written = await client.patch(type, keyOf(object), patch, { ...options, subresource: "status" });
        return { type: "written", object: written };
      } catch (error) {
        if (isConflict(error)) return { type: "conflict" };
        if (isNotFound(error)) return { type: "gone" };
        throw error;
      }
    },
  };
}
