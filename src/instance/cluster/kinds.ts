// The Kubernetes kinds of an instance: those of its children, and those that are only read.
import type { ResourceType } from "@firebolt-operator/kube";
import { CoreEvent, Pod } from "@firebolt-operator/kube/kinds";
import { CHILD_KINDS, CHILDREN, type ChildKind, type ChildTypes } from "../model/child-kinds.ts";

export { SECRET_METADATA } from "../model/child-kinds.ts";

/** By kind; key and resource of every entry come from the same declaration. */
export const KINDS = Object.fromEntries(CHILD_KINDS.map((kind) => [kind, CHILDREN[kind].resource])) as {
  readonly [K in ChildKind]: ResourceType<ChildTypes[K]>;
};

/** Of the components; listed only while a component is not complete. */
export const PODS = Pod;
/** Why a claim gets no volume. Read only, and never watched. */
export const CORE_EVENTS = CoreEvent;
