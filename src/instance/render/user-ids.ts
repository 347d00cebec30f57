// Pods without fixed users and groups: some clusters (OpenShift with restricted-v2) assign them per namespace and
// reject any others. All other restrictions are kept.
import type { V1PodTemplateSpec } from "../../api/generated/kubernetes.ts";
import type { Rendered } from "../model/children.ts";
import type { InstanceObjects } from "./instance-objects.ts";

export function withoutUserIds({ postgres, metadata, gateway }: InstanceObjects): InstanceObjects {
  return { postgres: postgres.map(assigned), metadata: metadata.map(assigned), gateway: gateway.map(assigned) };
}

function assigned(object: Rendered): Rendered {
  switch (object.kind) {
    case "StatefulSet":
      return object.spec === undefined
        ? object
        : { ...object, spec: { ...object.spec, template: assignedTemplate(object.spec.template) } };
    case "Deployment":
      return object.spec === undefined
        ? object
        : { ...object, spec: { ...object.spec, template: assignedTemplate(object.spec.template) } };
    default:
      return object;
  }
}

function assignedTemplate(template: V1PodTemplateSpec): V1PodTemplateSpec {
  const { spec } = template;
  if (spec === undefined) return template;
  const { securityContext, containers } = spec;
  return {
    ...template,
    spec: {
      ...spec,
      ...(securityContext === undefined ? {} : { securityContext: withoutIds(securityContext) }),
      containers: containers.map((container) =>
        container.securityContext === undefined
          ? container
          : { ...container, securityContext: withoutIds(container.securityContext) },
      ),
    },
  };
}

interface Ids {
  runAsUser?: number;
  runAsGroup?: number;
  fsGroup?: number;
}

function withoutIds<T extends Ids>(context: T): Omit<T, keyof Ids> {
  const { runAsUser: _, runAsGroup: __, fsGroup: ___, ...rest } = context;
  return rest;
}
