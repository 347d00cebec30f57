// The addresses of the Kubernetes kinds that an engine is made of.
import { defineResource } from "@firebolt-operator/kube";
import type { CoreV1Event, V1ConfigMap, V1Pod, V1Service, V1StatefulSet } from "../api/generated/kubernetes.ts";

const core = { group: "", version: "v1", namespaced: true } as const;

export const statefulSets = defineResource<V1StatefulSet>({
  group: "apps",
  version: "v1",
  kind: "StatefulSet",
  plural: "statefulsets",
  namespaced: true,
});
export const services = defineResource<V1Service>({ ...core, kind: "Service", plural: "services" });
export const configMaps = defineResource<V1ConfigMap>({ ...core, kind: "ConfigMap", plural: "configmaps" });
export const pods = defineResource<V1Pod>({ ...core, kind: "Pod", plural: "pods" });
/** Read only, and never watched. */
export const coreEvents = defineResource<CoreV1Event>({ ...core, kind: "Event", plural: "events" });
