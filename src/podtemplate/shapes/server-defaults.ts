// A whole pod template in the form in which the API server stores it: with defaults, without empty values, quantities
// in canonical form. The shapes of the fields are in the *-shape.ts files beside this one.
import type {
  V1HostAlias,
  V1PodDNSConfig,
  V1PodDNSConfigOption,
  V1PodOS,
  V1PodReadinessGate,
  V1PodResourceClaim,
  V1PodSchedulingGate,
  V1PodSchedulingGroup,
  V1PodSpec,
} from "../../api/generated/kubernetes.ts";
import { containers, REQUIREMENTS } from "./container.ts";
import { podSecurityContext } from "./security.ts";
import { affinity, tolerations, topologySpreadConstraints } from "./selector.ts";
import {
  embedded,
  type FieldShapes,
  isObject,
  listOf,
  object,
  pointer,
  pointerOr,
  resourceList,
  type Shape,
  scalar,
  scalarOr,
  scalars,
  texts,
} from "./shape.ts";
import { localRef, volumes } from "./volume.ts";

/** The normal form of every field of a pod spec. */
export const POD_SPEC: FieldShapes<V1PodSpec> = {
  activeDeadlineSeconds: pointer,
  affinity,
  automountServiceAccountToken: pointer,
  containers,
  dnsConfig: object<V1PodDNSConfig>({
    nameservers: scalars,
    options: listOf(object<V1PodDNSConfigOption>({ name: scalar, value: pointer })),
    searches: scalars,
  }),
  dnsPolicy: scalarOr("ClusterFirst"),
  enableServiceLinks: pointer,
  ephemeralContainers: containers,
  hostAliases: listOf(object<V1HostAlias>({ hostnames: scalars, ip: scalar })),
  hostIPC: scalar,
  hostNetwork: scalar,
  hostPID: scalar,
  hostUsers: pointer,
  hostname: scalar,
  hostnameOverride: pointer,
  imagePullSecrets: listOf(localRef),
  initContainers: containers,
  nodeName: scalar,
  nodeSelector: texts,
  os: object<V1PodOS>({ name: scalar }),
  overhead: resourceList,
  preemptionPolicy: pointer,
  priority: pointer,
  priorityClassName: scalar,
  readinessGates: listOf(object<V1PodReadinessGate>({ conditionType: scalar })),
  resourceClaims: listOf(
    object<V1PodResourceClaim>({ name: scalar, resourceClaimName: pointer, resourceClaimTemplateName: pointer }),
  ),
  resources: object(REQUIREMENTS),
  restartPolicy: scalarOr("Always"),
  runtimeClassName: pointer,
  schedulerName: scalarOr("default-scheduler"),
  schedulingGates: listOf(object<V1PodSchedulingGate>({ name: scalar })),
  schedulingGroup: object<V1PodSchedulingGroup>({ podGroupName: pointer }),
  securityContext: podSecurityContext,
  serviceAccount: scalar,
  serviceAccountName: scalar,
  setHostnameAsFQDN: pointer,
  shareProcessNamespace: pointer,
  subdomain: scalar,
  terminationGracePeriodSeconds: pointerOr(30),
  tolerations,
  topologySpreadConstraints,
  volumes,
};

const podSpec = embedded(POD_SPEC);

/** Labels or annotations: no map is the same as an empty one. */
export const stringMap: Shape = texts;

/** The normal form of a pod template or of a fragment of one. */
export function normalPodTemplate(template: unknown): unknown {
  const { metadata, spec } = isObject(template) ? template : {};
  return { metadata: isObject(metadata) ? metadata : {}, spec: podSpec(spec) };
}
