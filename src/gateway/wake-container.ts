// The wake agent as a container of the gateway's pod, the token that only it gets, and the permissions it needs. One
// place for everything that has to agree with the agent's flags and with Envoy's configuration.
import type {
  V1Container,
  V1LifecycleHandler,
  V1PolicyRule,
  V1SeccompProfile,
  V1Volume,
} from "../api/generated/kubernetes.ts";
import { GROUP } from "../api/group.ts";
import { STALLED_REQUEST_BYTES } from "./envoy-types.ts";
import { GATEWAY_PORTS } from "./ports.ts";

/** Reserved: no user container or volume of a gateway pod may have these names. */
export const WAKE_AGENT_CONTAINER = "wake-agent";
export const WAKE_AGENT_TOKEN_VOLUME = "wake-agent-token";

const AGENT_UID = 65_532;
const TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
/** The agent outlives Envoy's eight seconds, so that no request loses its hold before its gateway terminates. */
const OUTLIVES_SECONDS = 12;

/**
 * How the operator learns that an engine is requested: agents write it to the engine, or only expose it and the
 * operator polls them. The second way leaves the pod that faces untrusted traffic without any right to write.
 */
export type WakeMode = "annotation" | "demand";

export interface WakeAgentInput {
  readonly image: string;
  readonly imagePullPolicy: string;
  readonly mode: WakeMode;
  /** Undefined: the default of the container runtime. */
  readonly seccompProfile: V1SeccompProfile | undefined;
  /** The command that sleeps where Kubernetes has no sleep action (before 1.30); the seconds are appended to it. */
  readonly sleepCommand: readonly string[] | undefined;
  /** Whether the container `envoy` has a memory limit: without one the downward API would return the node's memory. */
  readonly envoyHasMemoryLimit: boolean;
}

/** Appended after the user's own sidecars. */
export function renderWakeAgentContainer(input: WakeAgentInput): V1Container {
  return {
    name: WAKE_AGENT_CONTAINER,
    image: input.image,
    imagePullPolicy: input.imagePullPolicy,
    args: [
      "wake-agent",
      `--hold-port=${GATEWAY_PORTS.wakeHold}`,
      `--demand-port=${GATEWAY_PORTS.wakeDemand}`,
      `--discovery-port=${GATEWAY_PORTS.wakeDiscovery}`,
      `--envoy-admin-url=http://127.0.0.1:${GATEWAY_PORTS.admin}`,
      `--probe-url=http://127.0.0.1:${GATEWAY_PORTS.wakeProbe}`,
      `--per-hold-bytes=${STALLED_REQUEST_BYTES}`,
      ...(input.mode === "annotation" ? ["--stamp-annotation=true"] : []),
    ],
    env: [
      { name: "POD_NAMESPACE", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } } },
      ...(input.envoyHasMemoryLimit
        ? [
            {
              name: "ENVOY_MEMORY_LIMIT_BYTES",
              valueFrom: { resourceFieldRef: { containerName: "envoy", resource: "limits.memory", divisor: "0" } },
            },
          ]
        : []),
    ],
    ports: [{ name: "wake-demand", containerPort: GATEWAY_PORTS.wakeDemand, protocol: "TCP" }],
    // No probes, on purpose: an unhealthy agent must not take the gateway out of service. Queries pass without it.
    // For 1,024 held queries, and thousands of engines that are watched and published.
    resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "256Mi" } },
    lifecycle: { preStop: renderOutliving(input.sleepCommand) },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: AGENT_UID,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      ...(input.seccompProfile === undefined ? {} : { seccompProfile: input.seccompProfile }),
    },
    volumeMounts: [{ name: WAKE_AGENT_TOKEN_VOLUME, mountPath: TOKEN_PATH, readOnly: true }],
  };
}

function renderOutliving(command: readonly string[] | undefined): V1LifecycleHandler {
  if (command === undefined) return { sleep: { seconds: OUTLIVES_SECONDS } };
  return { exec: { command: [...command, String(OUTLIVES_SECONDS)] } };
}

/** Mounted into the agent alone: Envoy holds no token. */
export function renderWakeAgentTokenVolume(): V1Volume {
  return {
    name: WAKE_AGENT_TOKEN_VOLUME,
    projected: {
      defaultMode: 0o644,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3_600, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        {
          downwardAPI: {
            items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
          },
        },
      ],
    },
  };
}

/** The permissions of the agent: read endpoints and, where it writes wake requests, read engines and patch them. */
export function wakeAgentRules(mode: WakeMode = "annotation"): V1PolicyRule[] {
  const engines = { apiGroups: [GROUP], resources: ["fireboltengines"], verbs: ["get", "list", "watch", "patch"] };
  const endpoints = {
    apiGroups: ["discovery.k8s.io"],
    resources: ["endpointslices"],
    verbs: ["get", "list", "watch"],
  };
  return mode === "annotation" ? [engines, endpoints] : [endpoints];
}
