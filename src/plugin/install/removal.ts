// What `uninstall` deletes and what it keeps, as data, decided before anything is changed. An object is deleted only
// if the removed release watches it, no other operator does, and the command line covers its namespace. Pure.
import type { KubeObject, ResourceType } from "@firebolt-operator/kube";
import { nameOf, namespaceOf } from "../cluster/find-object.ts";
import { type Operator, operatorText, watches } from "./operators.ts";

export interface Found {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

export interface RemovalOptions {
  /** The release, as the command line names it. */
  readonly release: string;
  readonly operatorNamespace: string;
  /** `-n`: objects of this namespace only; undefined: of all that the release watches. */
  readonly namespace: string | undefined;
  readonly deleteResources: boolean;
  readonly crds: boolean;
}

export interface Cluster {
  readonly operators: readonly Operator[];
  /** In the order in which they are deleted. */
  readonly objects: readonly Found[];
}

export type Removal =
  | { readonly type: "refused"; readonly message: string }
  | {
      readonly type: "removes";
      readonly objects: readonly Found[];
      /** Whether the release is uninstalled: not while objects remain that it watches. */
      readonly operator: boolean;
      readonly definitions: boolean;
      /** Watched by the release, outside the given namespace. */
      readonly left: readonly Found[];
      /** Not watched by the release, or by another operator too. */
      readonly foreign: readonly Found[];
    };

export function planRemoval(options: RemovalOptions, { operators, objects }: Cluster): Removal {
  const { release, operatorNamespace, namespace, deleteResources, crds } = options;
  const own = operators.find((one) => one.namespace === operatorNamespace && one.release === release);
  const others = operators.filter((one) => one !== own);
  const isForeign = ({ object }: Found): boolean => others.some((other) => watches(other, object));
  const isOwn = (found: Found): boolean => own !== undefined && watches(own, found.object) && !isForeign(found);
  const mine = objects.filter(isOwn);
  const foreign = objects.filter((found) => !isOwn(found));
  const called = `${operatorNamespace}/${release}`;
  if (own === undefined && (deleteResources || foreign.some((found) => !isForeign(found))) && objects.length > 0)
    return refused(
      `there is no operator of release ${called} that could clean up after ${countText(objects)}${elsewhere(others)}`,
    );
  const { namespaces = [] } = own?.watch ?? {};
  if (namespace !== undefined && namespaces.length > 0 && !namespaces.includes(namespace))
    return refused(
      `the operator ${called} does not watch namespace ${JSON.stringify(namespace)}, but ${namespaces.join(", ")}${elsewhere(others)}`,
    );
  if (mine.length > 0 && !deleteResources)
    return refused(
      `there are still objects that need the operator ${called} for their cleanup: ${countText(mine)}\ndelete them first, or use --delete-resources (this deletes their data in the cluster too)`,
    );
  const going = mine.filter(({ object }) => namespace === undefined || namespaceOf(object) === namespace);
  const left = mine.filter((found) => !going.includes(found));
  if (crds && (foreign.length > 0 || others.length > 0)) {
    const reasons = [
      ...(foreign.length > 0
        ? [`${countText(foreign)} would be deleted with them, which ${called} does not watch`]
        : []),
      ...(others.length > 0 ? [`other operators need them (${others.map(operatorText).join(", ")})`] : []),
    ];
    return refused(`--crds: the custom resource definitions cannot be deleted: ${reasons.join("; ")}\nomit --crds`);
  }
  return { type: "removes", objects: going, operator: left.length === 0, definitions: crds, left, foreign };
}

const refused = (message: string): Removal => ({ type: "refused", message });

const elsewhere = (others: readonly Operator[]): string =>
  others.length === 0
    ? ""
    : `\noperators are installed as ${others.map(operatorText).join(", ")} (namespace/release): name one with --operator-namespace and --release`;

/** `2 FireboltEngine in team-a, 1 FireboltInstance in team-b`. */
export function countText(found: readonly Found[]): string {
  return [...groups(found)].map(([where, names]) => `${names.length} ${where}`).join(", ");
}

/** By kind and namespace, in the order in which they are deleted. */
export function groups(found: readonly Found[]): ReadonlyMap<string, readonly string[]> {
  const result = new Map<string, string[]>();
  for (const { type, object } of found) {
    const where = `${type.kind} in ${namespaceOf(object)}`;
    result.set(where, [...(result.get(where) ?? []), nameOf(object)]);
  }
  return result;
}

/** Everything that will be deleted or kept, for the confirmation. */
export function removalText(
  removal: Extract<Removal, { type: "removes" }>,
  { release, operatorNamespace }: RemovalOptions,
): string {
  const called = `${operatorNamespace}/${release}`;
  const listed = (found: readonly Found[]): readonly string[] =>
    [...groups(found)].map(([where, names]) => `  ${where}: ${names.join(", ")}`);
  const goes = [
    ...listed(removal.objects),
    ...(removal.operator ? [`  operator (Helm release ${called})`] : []),
    ...(removal.definitions ? ["  custom resource definitions of the whole cluster"] : []),
  ];
  const instances = removal.objects.some(({ type }) => type.kind === "FireboltInstance");
  return [
    ...(goes.length === 0 ? ["There is nothing to delete."] : ["This deletes:", ...goes]),
    ...(instances
      ? ["Deleting an instance also deletes its credentials and, with the built-in PostgreSQL, its catalogue."]
      : []),
    ...(removal.left.length > 0
      ? [`The operator ${called} is kept, because it watches objects in other namespaces:`, ...listed(removal.left)]
      : []),
    ...(removal.foreign.length > 0
      ? [`Kept, because ${called} does not watch them, or another operator does too:`, ...listed(removal.foreign)]
      : []),
  ]
    .map((line) => `${line}\n`)
    .join("");
}
