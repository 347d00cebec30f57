// The gateway: Envoy's configuration, the Deployment that runs it, its Service and its disruption budget. All of it
// depends on the instance alone: if it depended on engines, an engine event would roll the gateway.
import { INSTANCE_DEFAULTS } from "../../api/defaults.ts";
import type { V1Container, V1SeccompProfile } from "../../api/generated/kubernetes.ts";
import { ANNOTATION } from "../../api/labels.ts";
import { ONE, parseQuantity } from "../../api/values/quantity.ts";
import type { AccessLogMode } from "../../gateway/access-log.ts";
import { renderGatewayConfig } from "../../gateway/gateway-config.ts";
import { GATEWAY_PORTS, resolveMetricsPort } from "../../gateway/ports.ts";
import { GATEWAY_GRACE_SECONDS, renderPreStopCommand } from "../../gateway/pre-stop.ts";
import { GATEWAY_CONFIG_FILE, serialiseGatewayConfig } from "../../gateway/serialise.ts";
import { renderWakeAgentContainer, renderWakeAgentTokenVolume, type WakeMode } from "../../gateway/wake-container.ts";
import { defaultPullPolicy } from "../../podtemplate/image-reference.ts";
import { present } from "../../podtemplate/present.ts";
import type { Instance, Rendered } from "../model/children.ts";
import { componentLabels, gatewayConfigName, gatewayName, type InstanceIdentity } from "../model/names.ts";
import { podSecurity, primaryOf, renderComponentPod } from "./component-pod.ts";
import { gatewayAccountName, ownsGatewayIdentity } from "./gateway-identity.ts";
import { hardened } from "./hardening.ts";
import { objectMetadata } from "./object-metadata.ts";

/** The user of the Envoy image. */
const ENVOY_UID = 101;
const CONFIG_PATH = "/etc/envoy";
const SERVICE_PORT = 80;

export interface GatewayInput {
  readonly identity: InstanceIdentity;
  readonly spec: Instance["spec"];
  readonly defaultImage: string;
  readonly config: string;
  /** Absent: nothing holds queries for stopped engines. */
  readonly wakeAgent: WakeAgentImage | undefined;
  readonly wakeMode: WakeMode;
  /** Rolls the pods after their account was replaced. */
  readonly replacedAccountUid: string | undefined;
  /** For containers without one in the pod's template. Undefined: none. */
  readonly seccompProfile: V1SeccompProfile | undefined;
}

/** The operator's own image, which contains the agent. */
export interface WakeAgentImage {
  readonly image: string;
  /** Empty: derived from the image's tag. */
  readonly pullPolicy: string;
  /** Runs the image's own `sleep`, for Kubernetes before 1.30. */
  readonly sleepCommand?: readonly string[];
}

/** `envoy.yaml` of an instance. Needs no cluster. */
export function renderGatewayConfigText(
  { namespace, name }: Pick<InstanceIdentity, "namespace" | "name">,
  { gateway: { metricsPort, template, hostDomains, defaultEngine } }: Instance["spec"],
  { wake = false, accessLog }: { readonly wake?: boolean; readonly accessLog?: AccessLogMode | undefined } = {},
): string {
  const memoryLimitBytes = memoryLimitOf(template);
  const selection = { hostDomains, defaultEngine, service: gatewayName(name) };
  const input = { namespace, metricsPort, wake, memoryLimitBytes, accessLog, selection };
  return serialiseGatewayConfig(renderGatewayConfig(input));
}

/** The memory limit of Envoy's container in bytes, when its template has one that is a quantity above zero. */
function memoryLimitOf(template: Instance["spec"]["gateway"]["template"]): number | undefined {
  const limit = parseQuantity(primaryOf(template, "gateway").resources?.limits?.["memory"]);
  return limit === undefined || limit < ONE ? undefined : Number(limit / ONE);
}

export function renderGatewayConfigMap(identity: InstanceIdentity, config: string): Rendered<"ConfigMap"> {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: objectMetadata(identity, "gateway", gatewayConfigName(identity.name)),
    data: { [GATEWAY_CONFIG_FILE]: config },
  };
}

export function renderGatewayDeployment(input: GatewayInput): Rendered<"Deployment"> {
  const { identity, spec } = input;
  const { template, replicas } = spec.gateway;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: objectMetadata(identity, "gateway", gatewayName(identity.name)),
    spec: {
      replicas: replicas ?? INSTANCE_DEFAULTS.gatewayReplicas,
      selector: { matchLabels: componentLabels(identity.name, "gateway") },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } },
      template: renderComponentPod({
        instance: identity.name,
        component: "gateway",
        template,
        config: input.config,
        annotations:
          input.replacedAccountUid === undefined ? {} : { [ANNOTATION.accountUid]: input.replacedAccountUid },
        container: renderContainer(input),
        lastContainers: renderWakeAgent(input),
        volumes: [
          {
            name: "config-volume",
            configMap: {
              name: gatewayConfigName(identity.name),
              items: [{ key: GATEWAY_CONFIG_FILE, path: GATEWAY_CONFIG_FILE }],
            },
          },
          { name: "tmp", emptyDir: {} },
          ...(input.wakeAgent === undefined ? [] : [renderWakeAgentTokenVolume()]),
        ],
        fields: present({
          serviceAccountName: gatewayAccountName(identity.name, spec),
          // Envoy does not call the Kubernetes API: a token that may patch engines would only be a risk.
          automountServiceAccountToken: ownsGatewayIdentity(spec)
            ? false
            : template?.spec?.automountServiceAccountToken,
          terminationGracePeriodSeconds: GATEWAY_GRACE_SECONDS,
          securityContext: present({
            ...podSecurity(template),
            seccompProfile: podSecurity(template).seccompProfile ?? input.seccompProfile,
          }),
        }),
      }),
    },
  };
}

function renderContainer({ spec, defaultImage }: GatewayInput): V1Container {
  const { template, metricsPort } = spec.gateway;
  const user = primaryOf(template, "gateway");
  const image = user.image ?? defaultImage;
  const health = { httpGet: { path: "/healthz", port: "metrics", scheme: "HTTP" } };
  return present({
    name: "envoy",
    image,
    imagePullPolicy: user.imagePullPolicy ?? defaultPullPolicy(image),
    args: ["envoy", "-c", `${CONFIG_PATH}/${GATEWAY_CONFIG_FILE}`],
    ports: [
      { name: "http", containerPort: GATEWAY_PORTS.client, protocol: "TCP" },
      { name: "metrics", containerPort: resolveMetricsPort(metricsPort), protocol: "TCP" },
    ],
    resources: user.resources,
    securityContext: hardened(ENVOY_UID),
    livenessProbe: { ...health, initialDelaySeconds: 1, periodSeconds: 15, timeoutSeconds: 3 },
    // Not ready after four seconds of failing responses.
    readinessProbe: { ...health, periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 4 },
    lifecycle: { preStop: { exec: { command: [...renderPreStopCommand()] } } },
    volumeMounts: [
      { name: "config-volume", mountPath: CONFIG_PATH, readOnly: true },
      { name: "tmp", mountPath: "/tmp" },
    ],
  });
}

function renderWakeAgent(input: GatewayInput): readonly V1Container[] {
  const { spec, wakeAgent, wakeMode: mode, seccompProfile } = input;
  if (wakeAgent === undefined) return [];
  const { image, pullPolicy, sleepCommand } = wakeAgent;
  const limits = primaryOf(spec.gateway.template, "gateway").resources?.limits ?? {};
  const imagePullPolicy = pullPolicy || defaultPullPolicy(image);
  const envoyHasMemoryLimit = limits["memory"] !== undefined;
  return [
    renderWakeAgentContainer({ image, imagePullPolicy, mode, seccompProfile, sleepCommand, envoyHasMemoryLimit }),
  ];
}

export function renderGatewayService(identity: InstanceIdentity): Rendered<"Service"> {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: objectMetadata(identity, "gateway", gatewayName(identity.name)),
    spec: {
      type: "ClusterIP",
      selector: componentLabels(identity.name, "gateway"),
      ports: [{ name: "http", port: SERVICE_PORT, targetPort: GATEWAY_PORTS.client, protocol: "TCP" }],
    },
  };
}

export function renderGatewayBudget(identity: InstanceIdentity): Rendered<"PodDisruptionBudget"> {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: objectMetadata(identity, "gateway", gatewayName(identity.name)),
    spec: { maxUnavailable: 1, selector: { matchLabels: componentLabels(identity.name, "gateway") } },
  };
}
