// The user's part of the engine pod: operator default < class < engine, field by field
// (docs/design/objects.md#merging). Fields that are not listed here are never rendered.
import type { V1Container, V1PodSecurityContext, V1PodSpec, V1Volume } from "../../api/generated/kubernetes.ts";
import type { PodTemplateFragment } from "../../api/schema/pod-template.ts";
import { nonEmpty, nonEmptyMap, present } from "../../podtemplate/present.ts";
import { isObject } from "../../podtemplate/shapes/shape.ts";
import { ENGINE_CONTAINER, ENGINE_USER, OPERATOR_VOLUMES } from "../model/pod-contract.ts";
import { byName, concat, concatKeyed } from "./merge-lists.ts";

/** Pod fields that pass from the template to the pod, in the order in which they are rendered. */
type PassedField =
  | "serviceAccountName"
  | "automountServiceAccountToken"
  | "nodeSelector"
  | "affinity"
  | "tolerations"
  | "topologySpreadConstraints"
  | "schedulerName"
  | "priorityClassName"
  | "preemptionPolicy"
  | "runtimeClassName"
  | "os"
  | "overhead"
  | "readinessGates"
  | "resourceClaims"
  | "dnsPolicy"
  | "dnsConfig"
  | "hostAliases"
  | "imagePullSecrets"
  | "initContainers";

export interface EffectivePod {
  /** The user's labels; the operator's own are added when the pod is rendered. */
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly securityContext: V1PodSecurityContext;
  readonly fields: Pick<V1PodSpec, PassedField>;
  readonly sidecars: readonly V1Container[];
  /** The user's volumes, without those that use a name of the operator's. */
  readonly volumes: readonly V1Volume[];
}

type Layer = PodTemplateFragment | undefined;

export function resolveEnginePod(ofClass: Layer, ofEngine: Layer): EffectivePod {
  const [lower, upper] = [ofClass?.spec, ofEngine?.spec];
  return {
    labels: { ...textsOf(ofClass?.metadata?.labels), ...textsOf(ofEngine?.metadata?.labels) },
    annotations: { ...textsOf(ofClass?.metadata?.annotations), ...textsOf(ofEngine?.metadata?.annotations) },
    securityContext: resolveSecurityContext(upper?.securityContext ?? lower?.securityContext),
    fields: present({
      serviceAccountName: upper?.serviceAccountName || lower?.serviceAccountName || undefined,
      automountServiceAccountToken: automountOf(
        upper?.automountServiceAccountToken ?? lower?.automountServiceAccountToken,
      ),
      nodeSelector: nonEmptyMap({ ...lower?.nodeSelector, ...upper?.nodeSelector }),
      affinity: upper?.affinity ?? lower?.affinity ?? undefined,
      tolerations: nonEmpty(concat(lower?.tolerations, upper?.tolerations)),
      topologySpreadConstraints: nonEmpty(
        concatKeyed(
          lower?.topologySpreadConstraints,
          upper?.topologySpreadConstraints,
          ({ topologyKey, whenUnsatisfiable }) => `${topologyKey}\n${whenUnsatisfiable}`,
        ),
      ),
      schedulerName: upper?.schedulerName || lower?.schedulerName || undefined,
      priorityClassName: upper?.priorityClassName || lower?.priorityClassName || undefined,
      preemptionPolicy: upper?.preemptionPolicy ?? lower?.preemptionPolicy ?? undefined,
      runtimeClassName: upper?.runtimeClassName ?? lower?.runtimeClassName ?? undefined,
      os: upper?.os ?? lower?.os ?? undefined,
      overhead: upper?.overhead ?? lower?.overhead ?? undefined,
      readinessGates: nonEmpty(concat(lower?.readinessGates, upper?.readinessGates)),
      resourceClaims: nonEmpty(concatKeyed(lower?.resourceClaims, upper?.resourceClaims, byName)),
      dnsPolicy: upper?.dnsPolicy || lower?.dnsPolicy || undefined,
      dnsConfig: upper?.dnsConfig ?? lower?.dnsConfig ?? undefined,
      hostAliases: nonEmpty(concatKeyed(lower?.hostAliases, upper?.hostAliases, ({ ip }) => ip)),
      imagePullSecrets: nonEmpty(concatKeyed(lower?.imagePullSecrets, upper?.imagePullSecrets, byName)),
      initContainers: nonEmpty(concatKeyed(lower?.initContainers, upper?.initContainers, byName)),
    }),
    sidecars: concatKeyed(sidecarsOf(ofClass), sidecarsOf(ofEngine), byName),
    volumes: concatKeyed(lower?.volumes, upper?.volumes, byName).filter(({ name }) => !OPERATOR_VOLUMES.has(name)),
  };
}

/** Only `false` is rendered. Otherwise the pods follow their service account, as the pods of older versions do. */
function automountOf(value: boolean | null | undefined): false | undefined {
  return value === false ? false : undefined;
}

/** The entry of a template that stands for the engine container itself. */
export function engineContainerOf(template: Layer): V1Container | undefined {
  return template?.spec?.containers?.find(({ name }) => name === ENGINE_CONTAINER);
}

function sidecarsOf(template: Layer): V1Container[] | undefined {
  return template?.spec?.containers?.filter(({ name }) => name !== ENGINE_CONTAINER);
}

function resolveSecurityContext(context: V1PodSecurityContext | undefined): V1PodSecurityContext {
  return {
    ...context,
    fsGroup: context?.fsGroup ?? ENGINE_USER,
    fsGroupChangePolicy: context?.fsGroupChangePolicy ?? "OnRootMismatch",
  };
}

/** Metadata has no schema: what is no string never reaches the API server, and validation has rejected it before. */
function textsOf(map: unknown): Record<string, string> {
  if (!isObject(map)) return {};
  const entries = Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(entries);
}
