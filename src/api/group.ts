// The API group and the names of its kinds. Plain data: the runtime uses these values as resource types.

export const GROUP = "compute.firebolt.io";
export const VERSION = "v1alpha1";
export const API_VERSION = `${GROUP}/${VERSION}`;

/** The field manager of the operator. */
export const FIELD_MANAGER = "firebolt-operator";

/** The names of one kind. */
export interface KindNames {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortName: string;
  readonly namespaced: true;
  /** The operator removes it when its cleanup is done. */
  readonly finalizer: string;
}

export const INSTANCE_NAMES = {
  group: GROUP,
  version: VERSION,
  kind: "FireboltInstance",
  plural: "fireboltinstances",
  singular: "fireboltinstance",
  shortName: "fire",
  namespaced: true,
  finalizer: `${GROUP}/instance-cleanup`,
} as const satisfies KindNames;

export const ENGINE_NAMES = {
  group: GROUP,
  version: VERSION,
  kind: "FireboltEngine",
  plural: "fireboltengines",
  singular: "fireboltengine",
  shortName: "fireng",
  namespaced: true,
  finalizer: `${GROUP}/engine-cleanup`,
} as const satisfies KindNames;

export const ENGINE_CLASS_NAMES = {
  group: GROUP,
  version: VERSION,
  kind: "FireboltEngineClass",
  plural: "fireboltengineclasses",
  singular: "fireboltengineclass",
  shortName: "firengc",
  namespaced: true,
  finalizer: `${GROUP}/fireboltengineclass-deletion-guard`,
} as const satisfies KindNames;
