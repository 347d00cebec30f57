// The one declaration of every kind of object that an engine owns. Caches and their index, reads, writes, watches,
// deletion and the sweep follow from it (docs/adr/0027-one-declaration-per-child-kind.md). Pure data and functions.
import type { DeepReadonly, KubeObject, ResourceType } from "@firebolt-operator/kube";
import type { CacheEvent, ObjectCache } from "@firebolt-operator/kube/cache";
import { ConfigMap, Pod, Service, StatefulSet } from "@firebolt-operator/kube/kinds";
import type { V1ConfigMap, V1Pod, V1Service, V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { isForeignChange, isPodChange, isStatefulSetChange } from "./child-triggers.ts";
import { configMapName, headlessServiceName } from "./names.ts";
import { trimPod, trimService, trimStatefulSet } from "./trims.ts";

export interface ChildDeclaration<T extends KubeObject> {
  readonly resource: ResourceType<T>;
  /** What the cache keeps of an object; absent: everything. */
  readonly trim?: (object: T) => T;
  /** Whether an event triggers a reconcile of the engine. */
  readonly triggers: (event: CacheEvent<T>) => boolean;
  /** Foreground: the object stays until what it owns is deleted. */
  readonly propagation: "Foreground" | "Background";
  /**
   * Whether a deletion of the engine lists the kind at the API server: what no cache has seen yet is garbage-collected
   * otherwise.
   */
  readonly listedOnDeletion: boolean;
}

export interface ChildTypes {
  readonly StatefulSet: V1StatefulSet;
  readonly Service: V1Service;
  readonly ConfigMap: V1ConfigMap;
}
export type ChildKind = keyof ChildTypes;
export type ChildOf<K extends ChildKind> = DeepReadonly<ChildTypes[K]>;

/** In the order of removal: pods terminate before the names that they are found under are deleted. */
export const CHILDREN: { readonly [K in ChildKind]: ChildDeclaration<ChildTypes[K]> } = {
  StatefulSet: {
    resource: StatefulSet,
    trim: trimStatefulSet,
    triggers: isStatefulSetChange,
    // Pods are deleted before their StatefulSet is, so that their number stays true to the end.
    propagation: "Foreground",
    // StatefulSets run pods.
    listedOnDeletion: true,
  },
  Service: {
    resource: Service,
    trim: trimService,
    triggers: isForeignChange,
    propagation: "Background",
    listedOnDeletion: false,
  },
  ConfigMap: {
    resource: ConfigMap,
    triggers: isForeignChange,
    propagation: "Background",
    listedOnDeletion: false,
  },
};

const isChildKind = (kind: string): kind is ChildKind => Object.hasOwn(CHILDREN, kind);

export const CHILD_KINDS: readonly ChildKind[] = Object.keys(CHILDREN).filter(isChildKind);

export type ChildCaches = { readonly [K in ChildKind]: ObjectCache<ChildTypes[K]> };

/** A cache per kind. */
export function childCaches(
  create: <T extends KubeObject>(declaration: ChildDeclaration<T>) => ObjectCache<T>,
): ChildCaches {
  const { StatefulSet, Service, ConfigMap } = CHILDREN;
  return { StatefulSet: create(StatefulSet), Service: create(Service), ConfigMap: create(ConfigMap) };
}

/** Owned by the StatefulSets, not by the engine: observed, and deleted only where no StatefulSet owns them any more. */
export const PODS: ChildDeclaration<V1Pod> = {
  resource: Pod,
  trim: trimPod,
  triggers: isPodChange,
  propagation: "Background",
  listedOnDeletion: false,
};

/** The objects of one generation beside its StatefulSet, in the order in which they are created. */
export const PARTS = {
  configMap: { kind: "ConfigMap", nameOf: configMapName },
  headlessService: { kind: "Service", nameOf: headlessServiceName },
} as const satisfies Readonly<
  Record<string, { readonly kind: ChildKind; readonly nameOf: (engine: string, generation: number) => string }>
>;
export type Part = keyof typeof PARTS;
export type PartKind<P extends Part> = (typeof PARTS)[P]["kind"];
export type PartObject<P extends Part> = ChildTypes[PartKind<P>];
const isPart = (name: string): name is Part => Object.hasOwn(PARTS, name);
export const PART_NAMES: readonly Part[] = Object.keys(PARTS).filter(isPart);

/** One value per part. */
type PerPart = { readonly [P in Part]: unknown };

/** Each value is computed from its part alone; that it fits the part is asserted here, once. */
export function eachPart<V extends PerPart>(of: (part: Part) => unknown): V {
  return Object.fromEntries(PART_NAMES.map((part) => [part, of(part)])) as V;
}

/** One after the other, the last to be created first: after a failed request the next one is not made. */
export async function eachPartInTurn<V extends PerPart>(of: (part: Part) => Promise<unknown>): Promise<V> {
  const values = new Map<Part, unknown>();
  for (const part of PART_NAMES.toReversed()) values.set(part, await of(part));
  return eachPart<V>((part) => values.get(part));
}
