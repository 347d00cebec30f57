// The kinds of objects that an instance has, one declaration each. Types, caches, watches, reads, the deletion of an
// instance and the order of its deletes follow from this table; docs/adr/0028-child-kinds-of-an-instance.md lists what
// else a new kind takes.
import { defineResource, type KubeObject, type ResourceType } from "@firebolt-operator/kube";
import type { CacheOptions, ObjectCache } from "@firebolt-operator/kube/cache";
import {
  ConfigMap,
  Deployment,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
} from "@firebolt-operator/kube/kinds";
import { LABEL } from "../../api/labels.ts";
import { metadataAlone, same, trimConfigMap, trimDeployment, trimStatefulSet, withoutStatus } from "./cache-trims.ts";
import { gatewayConfigName, gatewayName, metadataConfigName, metadataName, postgresName } from "./names.ts";

/** The options of a cache that this feature sets; the caller adds the client, the logger and the namespaces. */
export type CacheSpec<T extends KubeObject> = Pick<CacheOptions<T>, "type" | "labelSelector" | "trim">;
export type CreateCache = <T extends KubeObject>(spec: CacheSpec<T>) => ObjectCache<T>;

interface Declaration<T extends KubeObject, Cached extends KubeObject> {
  readonly resource: ResourceType<T>;
  /** Keeps what is compared or decided by. */
  readonly trim: (object: Cached) => Cached;
  /** The operator has permissions on it only where every gateway has its own Role. */
  readonly needsRoles: boolean;
  /** It depends on no other object of its component, and running pods need it whatever else the API server rejects. */
  readonly isIndependent: boolean;
  readonly createCache: (create: CreateCache) => ObjectCache<Cached>;
}

/** Rendered as a whole, under the names given, and read by them in every pass. */
interface RenderedChild<T extends KubeObject> extends Declaration<T, T> {
  readonly isRendered: true;
  readonly names: readonly ((instance: string) => string)[];
}

/** Never rendered as a whole: created once, or by a controller of Kubernetes. `names` is empty. */
interface ObservedChild<T extends KubeObject, Cached extends KubeObject> extends Declaration<T, Cached> {
  readonly isRendered: false;
  readonly names: readonly [];
}

interface Traits {
  readonly needsRoles?: boolean;
  readonly isIndependent?: boolean;
}

function rendered<T extends KubeObject>(
  resource: ResourceType<T>,
  trim: (object: T) => T,
  names: RenderedChild<T>["names"],
  { needsRoles = false, isIndependent = false }: Traits = {},
): RenderedChild<T> {
  const createCache = (create: CreateCache) => create<T>({ type: resource, labelSelector: LABEL.instance, trim });
  return { resource, trim, needsRoles, isIndependent, createCache, isRendered: true, names };
}

function observed<T extends KubeObject, Cached extends KubeObject>(
  resource: ResourceType<T>,
  cached: ResourceType<Cached>,
  trim: (object: Cached) => Cached,
): ObservedChild<T, Cached> {
  const createCache = (create: CreateCache) => create<Cached>({ type: cached, labelSelector: LABEL.instance, trim });
  return { resource, trim, needsRoles: false, isIndependent: false, createCache, isRendered: false, names: [] };
}

/** Secrets without their contents: these never reach this process by a watch. */
export const SECRET_METADATA = defineResource<KubeObject>({
  group: "",
  version: "v1",
  namespaced: true,
  kind: "Secret",
  plural: "secrets",
  metadataOnly: true,
});

/** In the order in which the deletion of an instance deletes them: what runs pods first, identities last. */
export const CHILDREN = {
  StatefulSet: rendered(StatefulSet, trimStatefulSet, [postgresName]),
  Deployment: rendered(Deployment, trimDeployment, [metadataName, gatewayName]),
  Service: rendered(Service, withoutStatus, [postgresName, metadataName, gatewayName], { isIndependent: true }),
  ConfigMap: rendered(ConfigMap, trimConfigMap, [metadataConfigName, gatewayConfigName]),
  /** Credentials of the built-in PostgreSQL. */
  Secret: observed(Secret, SECRET_METADATA, metadataAlone),
  /** The volume of the built-in PostgreSQL. */
  PersistentVolumeClaim: observed(PersistentVolumeClaim, PersistentVolumeClaim, withoutStatus),
  PodDisruptionBudget: rendered(PodDisruptionBudget, withoutStatus, [gatewayName], { isIndependent: true }),
  ServiceAccount: rendered(ServiceAccount, same, [gatewayName]),
  RoleBinding: rendered(RoleBinding, same, [gatewayName]),
  Role: rendered(Role, same, [gatewayName], { needsRoles: true }),
} as const;

export type ChildKind = keyof typeof CHILDREN;

/** The type of each kind's objects. */
export type ChildTypes = {
  [K in ChildKind]: (typeof CHILDREN)[K]["resource"] extends ResourceType<infer T> ? T : never;
};

/** Kinds that are rendered as a whole. */
export type RenderedKind = {
  [K in ChildKind]: (typeof CHILDREN)[K]["isRendered"] extends true ? K : never;
}[ChildKind];

const isChildKind = (kind: string): kind is ChildKind => Object.hasOwn(CHILDREN, kind);
const isRenderedKind = (kind: ChildKind): kind is RenderedKind => CHILDREN[kind].isRendered;

export const CHILD_KINDS: readonly ChildKind[] = Object.keys(CHILDREN).filter(isChildKind);

/** Kind and name of every object that an instance may have rendered. */
export function renderedNames(instance: string): readonly (readonly [RenderedKind, string])[] {
  return CHILD_KINDS.filter(isRenderedKind).flatMap((kind) =>
    CHILDREN[kind].names.map((nameOf) => [kind, nameOf(instance)] as const),
  );
}
