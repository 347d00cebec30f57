// One gateway pod as data: how it finds engines, and the queries, connections and endpoints of each. Pure: built from
// what observe-gateways.ts has read. The sentences of the tree are here too, so that they and the data agree.
import type { V1Pod } from "../../../api/generated/kubernetes.ts";
import { isPodReady } from "../../../pods/pod-trouble.ts";
import { nameOf, namespaceOf } from "../../cluster/find-object.ts";
import { countText } from "../../terminal/count.ts";
import { type GatewayReading, isGatewayPod, type Unknown } from "./observe-gateways.ts";

export interface GatewayView {
  readonly name: string;
  readonly phase: string;
  readonly ready: boolean;
  readonly createdAt: string | undefined;
  readonly discovery: DiscoveryView;
  /** Whether queries and connections of its engines are known. */
  readonly load: { readonly type: "read" } | Unknown;
  /** Those with a query, a connection or an endpoint. */
  readonly engines: readonly GatewayEngineView[];
}

export type DiscoveryView =
  | {
      readonly type: "read";
      /** Queries are sent to discovered endpoints alone. */
      readonly active: boolean;
      /** Envoy's discovery stream is open. */
      readonly connected: boolean | undefined;
      /** Engines that Envoy has as clusters. */
      readonly clusters: number | undefined;
      /** Resources that Envoy rejected since the agent started. */
      readonly rejected: number | undefined;
      /** Queries since Envoy started whose engine was resolved by name. */
      readonly queriesByName: number | undefined;
    }
  /** There is no wake agent: engines are resolved by name. */
  | { readonly type: "none" }
  | Unknown;

export interface GatewayEngineView {
  readonly name: string;
  /** Running now; undefined, like the next two: unknown. */
  readonly queries: number | undefined;
  /** Those of them whose engine was resolved by name. */
  readonly queriesByName: number | undefined;
  readonly connections: number | undefined;
  /** Where new queries go; generation -1 is one that the agent does not know. */
  readonly generations: readonly { readonly generation: number; readonly endpoints: number }[];
  /** Envoy has not accepted the newest endpoints yet. */
  readonly pending: boolean;
}

const NOT_RUNNING: Unknown = { type: "unknown", cause: "the pod does not run" };
const NOT_READ: GatewayReading = { discovery: NOT_RUNNING, load: NOT_RUNNING };

/** The gateways among the pods of an instance. Pods that have ended send no queries. */
export function viewGateways(
  pods: readonly V1Pod[],
  readings: ReadonlyMap<string, GatewayReading>,
): readonly GatewayView[] {
  return pods
    .filter((pod) => isGatewayPod(pod) && !["Succeeded", "Failed"].includes(pod.status?.phase ?? ""))
    .map((pod) => viewGateway(pod, readings.get(`${namespaceOf(pod)}/${nameOf(pod)}`) ?? NOT_READ))
    .sort(byName);
}

function viewGateway(pod: V1Pod, reading: GatewayReading): GatewayView {
  const { load } = reading;
  return {
    name: nameOf(pod),
    phase: pod.metadata?.deletionTimestamp === undefined ? (pod.status?.phase ?? "") : "Terminating",
    ready: isPodReady(pod),
    createdAt: pod.metadata?.creationTimestamp,
    discovery: viewDiscovery(reading.discovery),
    load: load.type === "read" ? { type: "read" } : load,
    engines: viewEngines(reading),
  };
}

function viewDiscovery(discovery: GatewayReading["discovery"]): DiscoveryView {
  if (discovery.type !== "read") return discovery;
  const { isActive, isConnected, engines, rejected, queriesByName } = discovery.report;
  return { type: "read", active: isActive, connected: isConnected, clusters: engines, rejected, queriesByName };
}

function viewEngines({ discovery, load }: GatewayReading): readonly GatewayEngineView[] {
  const report = discovery.type === "read" ? discovery.report : undefined;
  const loads = load.type === "read" ? load.engines : undefined;
  const names = new Set([...(report?.generations.keys() ?? []), ...(report?.pending ?? []), ...(loads?.keys() ?? [])]);
  return [...names]
    .map((name): GatewayEngineView => {
      // A response without the engine: nothing runs, and nothing is connected.
      const known =
        loads === undefined ? undefined : (loads.get(name) ?? { queries: 0, queriesByName: 0, connections: 0 });
      const generations = [...(report?.generations.get(name) ?? [])];
      return {
        name,
        queries: known?.queries,
        queriesByName: known?.queriesByName,
        connections: known?.connections,
        generations: generations
          .map(([generation, endpoints]) => ({ generation, endpoints }))
          .sort((a, b) => a.generation - b.generation),
        pending: report?.pending.has(name) ?? false,
      };
    })
    .filter(({ queries, connections, generations, pending }) => {
      return Boolean(queries) || Boolean(connections) || generations.length > 0 || pending;
    })
    .sort(byName);
}

/** Made once: there may be thousands of engines. */
const ORDER = new Intl.Collator("en", { numeric: true });

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return ORDER.compare(a.name, b.name);
}

/** `discovers endpoints of 2 engines, 14 queries by name` */
export function gatewayText({ discovery, load }: GatewayView): string {
  const parts = [discoveryText(discovery)];
  const isSaid = discovery.type === "unknown" && load.type === "unknown" && discovery.cause === load.cause;
  if (load.type === "unknown" && !isSaid) parts.push(`queries and connections unknown: ${load.cause}`);
  if (discovery.type !== "read") return parts.join(", ");
  const { queriesByName = 0, rejected = 0 } = discovery;
  if (queriesByName > 0) parts.push(`${queriesText(queriesByName)} by name`);
  if (rejected > 0) parts.push(`Envoy rejected ${countText(rejected, "resource")}`);
  return parts.join(", ");
}

function discoveryText(discovery: DiscoveryView): string {
  if (discovery.type === "none") return "no wake agent: engines are resolved by name";
  if (discovery.type === "unknown") return `state unknown: ${discovery.cause}`;
  const { active, connected, clusters } = discovery;
  if (active) return `discovers endpoints${clusters === undefined ? "" : ` of ${countText(clusters, "engine")}`}`;
  if (connected === false) return "resolves engines by name: the discovery stream is closed";
  // The agent has just started, or its watch is broken: it does not report which.
  return "may resolve engines by name: it did less than 30 s ago or its agent is not up to date";
}

/** `3 queries on 2 connections, generation 4` */
export function engineLoadText({ generations, pending, ...load }: GatewayEngineView): string {
  const numbers = generations.map(({ generation }) => (generation < 0 ? "unknown" : String(generation)));
  const parts = [
    loadText(load),
    numbers.length === 0 ? "" : `${numbers.length === 1 ? "generation" : "generations"} ${numbers.join(" and ")}`,
    pending ? "new endpoints not accepted yet" : "",
  ];
  return parts.filter((text) => text !== "").join(", ");
}

function loadText({
  queries,
  queriesByName = 0,
  connections,
}: Pick<GatewayEngineView, "queries" | "queriesByName" | "connections">): string {
  if (queries === undefined || connections === undefined) return "";
  if (queries === 0 && connections === 0) return "no queries";
  const named = queriesByName === 0 ? "" : queriesByName === queries ? " by name" : ` (${queriesByName} by name)`;
  return `${queriesText(queries)}${named} on ${countText(connections, "connection")}`;
}

const queriesText = (count: number): string => countText(count, "query", "queries");
