// Metadata that all objects of an instance share: labels, and the owner reference by which they are garbage collected
// with it.
import type { V1OwnerReference } from "../../api/generated/kubernetes.ts";
import { API_VERSION, INSTANCE_NAMES } from "../../api/group.ts";
import type { Component } from "../../api/labels.ts";
import type { RenderedMetadata } from "../model/children.ts";
import { componentLabels, type InstanceIdentity } from "../model/names.ts";

export function objectMetadata(instance: InstanceIdentity, component: Component, name: string): RenderedMetadata {
  return {
    name,
    namespace: instance.namespace,
    labels: componentLabels(instance.name, component),
    ownerReferences: [ownerReference(instance)],
  };
}

function ownerReference({ name, uid }: InstanceIdentity): V1OwnerReference {
  return {
    apiVersion: API_VERSION,
    kind: INSTANCE_NAMES.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
