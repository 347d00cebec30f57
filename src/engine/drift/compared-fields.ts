// What makes one generation differ from another: the compared fields of a StatefulSet in the order in which differences
// are reported, each with its normal form. Command, ports, probes, the operator's own volumes and the like are left out
// on purpose: comparing them would roll every engine when the operator is upgraded.

import type { V1PersistentVolumeClaim, V1PodSpec, V1StatefulSet } from "../../api/generated/kubernetes.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { CONTAINER, containers } from "../../podtemplate/shapes/container.ts";
import { POD_SPEC, stringMap } from "../../podtemplate/shapes/server-defaults.ts";
import { pointer, resourceList, type Shape, scalar, scalars } from "../../podtemplate/shapes/shape.ts";
import { volumes } from "../../podtemplate/shapes/volume.ts";
import { OPERATOR_VOLUMES, VOLUME } from "../model/pod-contract.ts";

export type StatefulSet = DeepReadonly<V1StatefulSet>;

export interface ComparedField {
  readonly path: string;
  /** The value in its normal form; undefined when absent. */
  readonly read: (statefulSet: StatefulSet) => unknown;
  /** The value is a map of named entries, which a path writes as `[name]`. */
  readonly named?: true;
  /** Compared only since a later version: while unset it must not change the fingerprints that older versions wrote. */
  readonly later?: true;
}

const POD = "spec.template.spec";
const ENGINE = `${POD}.containers[0]`;

const podSpecOf = (set: StatefulSet): DeepReadonly<V1PodSpec> | undefined => set.spec?.template.spec;

const podField = (name: keyof V1PodSpec, shape: Shape = POD_SPEC[name]): ComparedField => ({
  path: `${POD}.${name}`,
  read: (set) => shape(podSpecOf(set)?.[name]),
});

const engineField = (name: keyof typeof CONTAINER): ComparedField => ({
  path: `${ENGINE}.${name}`,
  read: (set) => CONTAINER[name](podSpecOf(set)?.containers[0]?.[name]),
});

export const COMPARED_FIELDS: readonly ComparedField[] = [
  { path: "spec.replicas", read: (set) => pointer(set.spec?.replicas) },
  engineField("name"),
  engineField("image"),
  engineField("imagePullPolicy"),
  engineField("resources"),
  { ...podField("nodeSelector"), named: true },
  podField("tolerations"),
  podField("affinity"),
  podField("topologySpreadConstraints"),
  podField("dnsConfig"),
  podField("readinessGates"),
  podField("resourceClaims"),
  podField("hostAliases"),
  podField("os"),
  podField("overhead"),
  podField("priorityClassName"),
  podField("serviceAccountName"),
  { ...podField("automountServiceAccountToken"), later: true },
  // An empty name is as good as none, though the API server would keep the two apart.
  podField("runtimeClassName", scalar),
  podField("preemptionPolicy", scalar),
  podField("dnsPolicy"),
  podField("schedulerName"),
  podField("terminationGracePeriodSeconds"),
  podField("securityContext"),
  engineField("securityContext"),
  engineField("env"),
  engineField("envFrom"),
  engineField("volumeMounts"),
  engineField("lifecycle"),
  engineField("volumeDevices"),
  engineField("resizePolicy"),
  engineField("workingDir"),
  engineField("terminationMessagePath"),
  engineField("terminationMessagePolicy"),
  // The engine container has been compared: a placeholder keeps the positions of the others.
  { path: `${POD}.containers`, read: (set) => [null, ...listIn(containers(podSpecOf(set)?.containers.slice(1)))] },
  podField("initContainers"),
  { path: "spec.template.metadata.labels", read: (set) => stringMap(set.spec?.template.metadata?.labels), named: true },
  {
    path: "spec.template.metadata.annotations",
    read: (set) => stringMap(set.spec?.template.metadata?.annotations),
    named: true,
  },
  { path: "spec.volumeClaimTemplates", read: claimTemplates, named: true },
  {
    path: `${POD}.volumes[${VOLUME.data}]`,
    read: (set) => podVolumes(set, (name) => name === VOLUME.data)[VOLUME.data],
  },
  podField("imagePullSecrets"),
  { path: `${POD}.volumes`, read: (set) => podVolumes(set, (name) => !OPERATOR_VOLUMES.has(name)), named: true },
];

/** Of claim templates the server completes nothing that is compared, but it adds a status. */
function claimTemplates(set: StatefulSet): unknown {
  const entries = (set.spec?.volumeClaimTemplates ?? []).map((claim) => [claim.metadata?.name ?? "", claimOf(claim)]);
  return Object.fromEntries(entries);
}

function claimOf({ spec }: DeepReadonly<V1PersistentVolumeClaim>): unknown {
  return {
    accessModes: scalars(spec?.accessModes),
    requests: resourceList(spec?.resources?.requests),
    storageClassName: pointer(spec?.storageClassName),
  };
}

/** Volumes by name: their order means nothing to a pod. */
function podVolumes(set: StatefulSet, wanted: (name: string) => boolean): Record<string, unknown> {
  const chosen = podSpecOf(set)?.volumes?.filter(({ name }) => wanted(name)) ?? [];
  const normal = listIn(volumes(chosen));
  return Object.fromEntries(chosen.map(({ name }, index) => [name, normal[index]]));
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
