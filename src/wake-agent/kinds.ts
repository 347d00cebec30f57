// The two kinds that the wake agent watches, reduced to the fields that it uses: a namespace may hold thousands of
// both, and the agent has little memory.
import { isIP } from "node:net";
import { defineResource, type KubeObject, type ObjectMeta } from "@firebolt-operator/kube";
import type { FireboltEngine } from "../api/firebolt-engine/engine.ts";
import { ENGINE_NAMES } from "../api/group.ts";
import { ANNOTATION } from "../api/labels.ts";

export interface EndpointSlice extends KubeObject {
  endpoints?: Endpoint[];
}

interface Endpoint {
  addresses?: string[];
  conditions?: { ready?: boolean };
  targetRef?: { name?: string };
}

export const EndpointSlice = defineResource<EndpointSlice>({
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
});

/** The fields of an engine that the agent uses. */
export interface WatchedEngine extends KubeObject {
  spec?: Pick<NonNullable<FireboltEngine["spec"]>, "replicas">;
  status?: Pick<
    NonNullable<FireboltEngine["status"]>,
    "phase" | "activeGeneration" | "autoStopReason" | "lastScaledAt"
  >;
}

/** The address of FireboltEngines. Imports names only: the schemas would cost memory for nothing. */
export const WatchedEngine = defineResource<WatchedEngine>(ENGINE_NAMES);

export const SERVICE_NAME_LABEL = "kubernetes.io/service-name";
const SERVICE_SUFFIX = "-service";

/** Selects the slices of an engine's Service. */
export function serviceSelector(engine: string): string {
  return `${SERVICE_NAME_LABEL}=${engine}${SERVICE_SUFFIX}`;
}

/** The engine that a slice belongs to, by the name of its Service; undefined for slices of other Services. */
export function engineOfSlice({
  metadata,
}: {
  readonly metadata?: Readonly<Pick<ObjectMeta, "labels">>;
}): string | undefined {
  const service = metadata?.labels?.[SERVICE_NAME_LABEL];
  if (service === undefined || !service.endsWith(SERVICE_SUFFIX)) return undefined;
  return service.slice(0, -SERVICE_SUFFIX.length);
}

/** Keeps the pods and addresses of the ready endpoints. */
export function trimSlice(slice: EndpointSlice): EndpointSlice {
  const service = slice.metadata?.labels?.[SERVICE_NAME_LABEL];
  const metadata = {
    ...identity(slice),
    ...(service === undefined ? {} : { labels: { [SERVICE_NAME_LABEL]: service } }),
  };
  if (engineOfSlice(slice) === undefined) return { metadata };
  // The API defines unset as ready. An endpoint that terminates is not ready, whether or not it still serves.
  const ready = (slice.endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
  return { metadata, endpoints: ready.map(trimEndpoint) };
}

/** All addresses of an endpoint lead to the same pod: one is enough. A name instead of an address is none. */
function trimEndpoint({ addresses = [], targetRef }: Endpoint): Endpoint {
  const address = addresses.find((candidate) => isIP(candidate) !== 0);
  return { targetRef: { name: targetRef?.name ?? "" }, ...(address === undefined ? {} : { addresses: [address] }) };
}

/** `<engine>-g<N>-<ordinal>` */
export function generationOfPod(name: string): number | undefined {
  const match = /-g(\d+)-\d+$/.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** Keeps the fields that determine availability, the wake request, and the time of the last scaling. */
export function trimEngine(engine: WatchedEngine): WatchedEngine {
  const { metadata, spec, status } = engine;
  const requested = metadata?.annotations?.[ANNOTATION.wakeRequested];
  const annotations = requested === undefined ? {} : { annotations: { [ANNOTATION.wakeRequested]: requested } };
  return {
    metadata: { ...identity(engine), ...annotations },
    ...(spec === undefined ? {} : { spec: { replicas: spec.replicas } }),
    ...(status === undefined ? {} : { status: trimStatus(status) }),
  };
}

function trimStatus({ phase, activeGeneration, autoStopReason, lastScaledAt }: NonNullable<WatchedEngine["status"]>) {
  return {
    activeGeneration,
    ...(phase === undefined ? {} : { phase }),
    ...(autoStopReason === undefined ? {} : { autoStopReason }),
    ...(lastScaledAt === undefined ? {} : { lastScaledAt }),
  };
}

function identity({ metadata }: KubeObject): ObjectMeta {
  const { name, namespace, uid, resourceVersion } = metadata ?? {};
  return {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}
