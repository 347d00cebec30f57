// Finds the object that the user named. When it does not exist, the error names the namespace that has it, or a
// similar name.

import { groupResourceOf, isForbidden, isNotFound, type KubeObject, type ResourceType } from "@firebolt-operator/kube";
import { CommandError, EXIT } from "../command-line/exit-codes.ts";
import { suggestion } from "../command-line/suggest.ts";
import type { Cluster } from "./cluster.ts";

export async function requireObject<T extends KubeObject>(
  cluster: Cluster,
  type: ResourceType<T>,
  name: string,
): Promise<T> {
  const { client, namespace, call } = cluster;
  const found = await client.find(type, { namespace, name }, call);
  if (found !== undefined) return found;
  const hint = await whereElse(cluster, type, name);
  const message = `${type.kind} ${JSON.stringify(name)} not found in namespace ${JSON.stringify(namespace)}${hint}`;
  throw new CommandError(message, EXIT.notFound);
}

/** The named object; without a name, the only one that exists. */
export async function requireOne<T extends KubeObject>(
  cluster: Cluster,
  type: ResourceType<T>,
  name: string | undefined,
): Promise<T> {
  if (name !== undefined) return requireObject(cluster, type, name);
  const { items } = await listObjects(cluster, type, { namespace: cluster.namespace });
  const [only, ...others] = items;
  const where = `in namespace ${JSON.stringify(cluster.namespace)}`;
  if (only === undefined)
    throw new CommandError(`no ${type.kind} found ${where}: use -n to name another namespace`, EXIT.notFound);
  if (others.length === 0) return only;
  const names = items.map(nameOf).sort();
  throw new CommandError(
    `there are ${names.length} objects of kind ${type.kind} ${where}: name one of ${names.join(", ")}`,
    EXIT.usage,
  );
}

export const nameOf = ({ metadata }: KubeObject): string => metadata?.name ?? "";
export const namespaceOf = ({ metadata }: KubeObject): string => metadata?.namespace ?? "";

export interface Scope {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly labelSelector?: string;
}

/** All objects of a kind. A kind that is not installed is an error that says so. */
export async function listObjects<T extends KubeObject>(
  { client, call }: Cluster,
  type: ResourceType<T>,
  { namespace, labelSelector }: Scope,
): Promise<{ readonly items: readonly T[]; readonly resourceVersion: string | undefined }> {
  const options = {
    ...call,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined || labelSelector === "" ? {} : { labelSelector }),
  };
  try {
    const { items, metadata } = await client.listAll(type, options);
    return { items, resourceVersion: metadata.resourceVersion };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new CommandError(
      `the cluster has no resource type ${groupResourceOf(type)}: install the operator and its custom resource definitions`,
    );
  }
}

/** For an object that was not found: its namespace, or ` (did you mean "x"?)`, or nothing. */
export async function whereElse<T extends KubeObject>(
  cluster: Cluster,
  type: ResourceType<T>,
  name: string,
): Promise<string> {
  let items: readonly T[] = [];
  try {
    ({ items } = await listObjects(cluster, type, { namespace: cluster.namespace }));
    const near = suggestion(name, items.map(nameOf));
    if (near !== "") return near;
    const everywhere = await listObjects(cluster, type, { namespace: undefined });
    const namespaces = everywhere.items.filter((object) => nameOf(object) === name).map(namespaceOf);
    if (namespaces.length > 0) return ` (it exists in namespace ${namespaces.join(", ")}: use -n)`;
  } catch (error) {
    // Without permission to list, there is no suggestion; the object is missing all the same.
    if (!isForbidden(error)) throw error;
  }
  const names = items.map(nameOf).sort();
  return names.length === 0 ? "" : ` (existing: ${names.slice(0, 10).join(", ")}${names.length > 10 ? ", …" : ""})`;
}
