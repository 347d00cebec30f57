// Reads what gateway pods know about engines, through the API server: the discovery state from the wake agent, running
// queries and connections from Envoy. Concludes nothing. A pod that cannot be read is a result with its cause, in
// words of the plugin's own: nothing that a pod sent is passed on but names and numbers of the known form.
import { isForbidden, isNotFound, KubeTimeoutError, ResponseTooLargeError } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import type { V1Pod } from "../../../api/generated/kubernetes.ts";
import { LABEL } from "../../../api/labels.ts";
import { WAKE_PATHS, WAKE_PORTS } from "../../../api/wake-protocol.ts";
import { hasAgent } from "../../../engine/gateways/gateway-pods.ts";
import { type GatewayReport, parseDiscovery } from "../../../engine/gateways/parse-discovery.ts";
import { ENGINE_LOAD_PATH, type EngineLoad, parseEngineLoad } from "../../../gateway/engine-load.ts";
import { resolveMetricsPort } from "../../../gateway/ports.ts";
import { WAKE_AGENT_CONTAINER } from "../../../gateway/wake-container.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { nameOf, namespaceOf } from "../../cluster/find-object.ts";
import { PROBE_TIMEOUT_MS, PROXY_FORBIDDEN } from "../observe-platform.ts";

export interface Unknown {
  readonly type: "unknown";
  /** A clause: `the pod does not respond`. */
  readonly cause: string;
}

/** What one gateway pod reported. */
export interface GatewayReading {
  readonly discovery:
    | { readonly type: "read"; readonly report: GatewayReport }
    /** There is no wake agent in the pod. */
    | { readonly type: "none" }
    | Unknown;
  readonly load: { readonly type: "read"; readonly engines: ReadonlyMap<string, EngineLoad> } | Unknown;
}

/** The container whose statistics are read; others may name a port alike. */
const ENVOY_CONTAINER = "envoy";
/** Two requests each, and fewer than the connections of the client: other calls run beside them. */
const MOST_PODS_AT_ONCE = 12;
/** Ten thousand engines take less. */
const MOST_MEBIBYTES = 4;

type Access = Pick<Cluster, "call" | "clock"> & { readonly client: Pick<KubeClient, "podProxyGet"> };

export const isGatewayPod = ({ metadata }: V1Pod): boolean => metadata?.labels?.[LABEL.component] === "gateway";

/** By `namespace/name`, for the pods that run. All of them together take no longer than one probe may. */
export async function observeGateways(
  access: Access,
  pods: readonly V1Pod[],
): Promise<ReadonlyMap<string, GatewayReading>> {
  const untilMs = access.clock.monotonicMs() + PROBE_TIMEOUT_MS;
  const readings = new Map<string, GatewayReading>();
  // Shared: whoever is free takes the next pod.
  const queue = pods.filter(({ status }) => status?.phase === "Running").values();
  const work = async (): Promise<void> => {
    for (const pod of queue)
      readings.set(`${namespaceOf(pod)}/${nameOf(pod)}`, await readGateway(access, pod, untilMs));
  };
  await Promise.all(Array.from({ length: MOST_PODS_AT_ONCE }, work));
  return readings;
}

/** A port and a path of a pod. */
export interface Target {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
  readonly path: string;
}

/** Where a gateway pod reports its discovery state (undefined: it has no wake agent) and its load. */
export function gatewayTargets(pod: V1Pod): { readonly discovery: Target | undefined; readonly load: Target } {
  const at = { namespace: namespaceOf(pod), pod: nameOf(pod) };
  const agent = { container: WAKE_AGENT_CONTAINER, port: WAKE_PORTS.demand };
  return {
    discovery: hasAgent(pod, agent) ? { ...at, port: agent.port, path: WAKE_PATHS.discovery } : undefined,
    load: { ...at, port: metricsPortOf(pod), path: ENGINE_LOAD_PATH },
  };
}

/** As the pod has it: while spec.gateway.metricsPort changes, pods with the old and with the new port run. */
function metricsPortOf({ spec }: V1Pod): number {
  const envoy = spec?.containers.find(({ name }) => name === ENVOY_CONTAINER);
  return resolveMetricsPort(envoy?.ports?.find(({ name }) => name === "metrics")?.containerPort);
}

async function readGateway(access: Access, pod: V1Pod, untilMs: number): Promise<GatewayReading> {
  const targets = gatewayTargets(pod);
  const [discovery, load] = await Promise.all([
    targets.discovery === undefined
      ? ({ type: "none" } as const)
      : get(access, targets.discovery, untilMs, (body) => {
          const report = parseDiscovery(body);
          return report === undefined ? notUnderstood("the wake agent") : { type: "read", report };
        }),
    get(access, targets.load, untilMs, (body) => {
      const engines = parseEngineLoad(body);
      return engines === undefined ? notUnderstood("Envoy") : { type: "read", engines };
    }),
  ]);
  return { discovery, load };
}

async function get<T>(
  { client, call, clock }: Access,
  target: Target,
  untilMs: number,
  read: (body: string) => T | Unknown,
): Promise<T | Unknown> {
  const timeoutMs = Math.floor(untilMs - clock.monotonicMs());
  if (timeoutMs <= 0) return unknown(`not read within ${PROBE_TIMEOUT_MS / 1_000} s: other gateway pods took as long`);
  try {
    const limits = { timeoutMs, maxBytes: MOST_MEBIBYTES * 1024 * 1024 };
    const { status, body } = await client.podProxyGet({ ...call, ...limits, ...target });
    return status === 200 ? read(body) : unknown(`port ${target.port} responded with status ${status}`);
  } catch (error) {
    if (call.signal.aborted) throw error;
    return unknown(causeOf(error));
  }
}

function causeOf(error: unknown): string {
  if (isForbidden(error)) return PROXY_FORBIDDEN;
  if (isNotFound(error)) return "the pod does not exist any more";
  if (error instanceof KubeTimeoutError) return `no response within ${PROBE_TIMEOUT_MS / 1_000} s`;
  if (error instanceof ResponseTooLargeError) return `the response is larger than ${MOST_MEBIBYTES} MiB`;
  return "the pod does not respond";
}

const unknown = (cause: string): Unknown => ({ type: "unknown", cause });
const notUnderstood = (whose: string): Unknown => unknown(`the response of ${whose} is not understood`);
