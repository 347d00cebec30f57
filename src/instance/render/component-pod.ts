// What gateway and metadata pods have in common: the user's template, overlaid with the operator's fields
// (docs/design/objects.md#component-pods). Forbidden parts of a template have been rejected before; here they are just
// never copied.

import type {
  V1Container,
  V1PodSecurityContext,
  V1PodSpec,
  V1PodTemplateSpec,
  V1ResourceRequirements,
  V1Volume,
} from "../../api/generated/kubernetes.ts";
import { ANNOTATION, RESERVED_KEY_PREFIX } from "../../api/labels.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import { copyOf, type DeepReadonly } from "../../api/values/deep-readonly.ts";
import { contentHash } from "../../podtemplate/content-hash.ts";
import { nonEmpty, present } from "../../podtemplate/present.ts";
import { COMPONENT_RULES } from "../../podtemplate/rules/template-rules.ts";
import { componentLabels } from "../model/names.ts";

export type Template = DeepReadonly<PodTemplateFragment> | undefined;
type UserPodSpec = NonNullable<PodTemplateFragment["spec"]>;

export interface ComponentPod {
  readonly instance: string;
  readonly component: "gateway" | "metadata";
  readonly template: Template;
  /** The configuration that the pods read at start: a change must roll them. */
  readonly config: string;
  /** More annotations of the operator. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly container: V1Container;
  /** The operator's own containers, after the user's sidecars. */
  readonly lastContainers?: readonly V1Container[];
  readonly volumes: readonly V1Volume[];
  /** Identity, grace period and hardening: set by the operator, whatever the template contains. */
  readonly fields: Pick<
    V1PodSpec,
    "serviceAccountName" | "automountServiceAccountToken" | "terminationGracePeriodSeconds" | "securityContext"
  >;
}

export function renderComponentPod(pod: ComponentPod): V1PodTemplateSpec {
  const { template, component, fields } = pod;
  const spec = copyOf<UserPodSpec>(template?.spec ?? {});
  return {
    metadata: {
      labels: { ...textsOf(template?.metadata?.labels), ...componentLabels(pod.instance, component) },
      annotations: {
        ...textsOf(template?.metadata?.annotations),
        [ANNOTATION.configHash]: contentHash(pod.config),
        ...pod.annotations,
      },
    },
    spec: {
      ...fields,
      enableServiceLinks: false,
      ...present({
        nodeSelector: spec.nodeSelector,
        tolerations: spec.tolerations,
        affinity: spec.affinity,
        topologySpreadConstraints: spec.topologySpreadConstraints,
        priorityClassName: spec.priorityClassName,
        imagePullSecrets: spec.imagePullSecrets,
        initContainers: nonEmpty(spec.initContainers ?? []),
      }),
      containers: [pod.container, ...sidecars(template, component), ...(pod.lastContainers ?? [])],
      volumes: [...pod.volumes, ...userVolumes(template, component)],
    },
  };
}

/** The fields of the operator's own container that the template may set; all others are the operator's. */
export function primaryOf(template: Template, component: "gateway" | "metadata") {
  const found = template?.spec?.containers?.find(({ name }) => name === COMPONENT_RULES[component].primary);
  const { image, imagePullPolicy, resources } = found ?? {};
  const { requests = {}, limits = {}, claims = [] } = resources ?? {};
  const hasAny = Object.keys(requests).length + Object.keys(limits).length + claims.length > 0;
  return {
    image: image || undefined,
    imagePullPolicy: imagePullPolicy || undefined,
    resources: hasAny && resources !== undefined ? copyOf<V1ResourceRequirements>(resources) : undefined,
  };
}

/** The pod's security context from the template. */
export function podSecurity(template: Template): V1PodSecurityContext {
  return copyOf<V1PodSecurityContext>(template?.spec?.securityContext ?? {});
}

/** Annotations of the template that are the user's own. */
export function userAnnotations(template: Template): Record<string, string> {
  return textsOf(template?.metadata?.annotations);
}

function sidecars(template: Template, component: "gateway" | "metadata"): V1Container[] {
  const { primary } = COMPONENT_RULES[component];
  return copyOf<V1Container[]>(template?.spec?.containers ?? []).filter(({ name }) => name !== primary);
}

function userVolumes(template: Template, component: "gateway" | "metadata"): V1Volume[] {
  const { reservedVolumes, secretVolumePrefixes } = COMPONENT_RULES[component];
  const isReserved = ({ name }: V1Volume) =>
    reservedVolumes.includes(name) || secretVolumePrefixes.some((prefix) => name.startsWith(prefix));
  return copyOf<V1Volume[]>(template?.spec?.volumes ?? []).filter((volume) => !isReserved(volume));
}

/** The schema does not validate the metadata of a template. */
function textsOf(map: unknown): Record<string, string> {
  if (typeof map !== "object" || map === null) return {};
  const entries = Object.entries(map).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && !entry[0].startsWith(RESERVED_KEY_PREFIX),
  );
  return Object.fromEntries(entries);
}
