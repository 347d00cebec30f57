// Whether every gateway of a namespace has stopped sending queries to a generation (docs/design/gateway.md#discovery).
// Gateways are read only when a pass needs to know, beside the passes, and one reading serves every engine that waits.
// Not knowing is "unknown", never "left".
import { type Clock, formatKey, type Logger } from "@firebolt-operator/kube";
import type { ObjectCache } from "@firebolt-operator/kube/cache";
import { INSTANCE_DEFAULTS } from "../../api/defaults.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import type { EngineKey } from "../cluster/engine-cluster.ts";
import { type AgentAddress, type GatewayPod, hasAgent, type ReadGateway } from "./gateway-pods.ts";
import { type GatewayReport, hasLeft, parseDiscovery } from "./parse-discovery.ts";

/**
 * "pending": gateways are being read; the engine is enqueued when they have responded. Once every gateway has left the
 * generation, `leftAtMs` is when the oldest of their readings began: what pods responded before does not count.
 */
export type Departure = { readonly leftAtMs: number } | "pending" | "unknown";

export interface DepartureRequest {
  readonly generation: number;
  /** Only a reading that began at or after this moment counts (milliseconds since the epoch). */
  readonly sinceMs: number;
}

export interface GatewayReportsOptions {
  readonly gateways: ObjectCache<V1Pod>;
  readonly instances: Pick<ObjectCache<FireboltInstance>, "get">;
  readonly agent: AgentAddress;
  readonly read: ReadGateway;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Readings of one gateway are at least this far apart, however many engines wait. */
const READ_EVERY_MS = 1_000;
/** A reading counts for this long; after that an engine that still waits causes another one. */
const FRESH_MS = 9_000;

interface Reading {
  /** When the last reading began; undefined before the first. */
  beganMs: number | undefined;
  /** Undefined: it failed. */
  report: GatewayReport | undefined;
  isDue: boolean;
}

export class GatewayReports {
  readonly #options: GatewayReportsOptions;
  /** By uid: a pod of the same name is another gateway. */
  readonly #readings = new Map<string, Reading>();
  readonly #waiting = new Map<string, EngineKey>();
  readonly #listeners = new Set<(engine: EngineKey) => void>();

  constructor(options: GatewayReportsOptions) {
    this.#options = options;
    options.gateways.onEvent(({ type, object }) => {
      if (type === "deleted") this.#readings.delete(object.metadata?.uid ?? "");
    });
  }

  onResult(listener: (engine: EngineKey) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Never waits and never throws. Every gateway pod counts, also one that is starting or terminating and one of another
   * instance: each routes to every engine of its namespace. Without any nothing is known.
   */
  departure(engine: EngineKey, { generation, sinceMs }: DepartureRequest): Departure {
    const { gateways, agent, clock } = this.#options;
    const pods = gateways.list(engine.namespace).filter(({ status }) => !isOver(status?.phase));
    if (pods.length === 0 || !pods.every((pod) => pod.status?.phase === "Running" && hasAgent(pod, agent)))
      return "unknown";
    const oldest = Math.max(sinceMs, clock.now() - FRESH_MS);
    const stale = pods.filter((pod) => {
      const { beganMs, isDue } = this.#readingOf(pod);
      return isDue || beganMs === undefined || beganMs < oldest;
    });
    for (const pod of stale) this.#request(pod);
    if (stale.length > 0) {
      this.#waiting.set(formatKey(engine), engine);
      return "pending";
    }
    const readings = pods.map((pod) => this.#readingOf(pod));
    const haveLeft = readings.every(({ report }) => report !== undefined && hasLeft(report, engine.name, generation));
    return haveLeft ? { leftAtMs: Math.min(...readings.map(({ beganMs }) => beganMs ?? oldest)) } : "unknown";
  }

  #readingOf({ metadata }: GatewayPod): Reading {
    const uid = metadata?.uid ?? "";
    const known = this.#readings.get(uid);
    if (known !== undefined) return known;
    const reading: Reading = { beganMs: undefined, report: undefined, isDue: false };
    this.#readings.set(uid, reading);
    return reading;
  }

  #request(pod: GatewayPod): void {
    const { clock } = this.#options;
    const reading = this.#readingOf(pod);
    if (reading.isDue) return;
    reading.isDue = true;
    const sinceMs = reading.beganMs === undefined ? READ_EVERY_MS : clock.now() - reading.beganMs;
    clock.after(Math.max(0, READ_EVERY_MS - Math.max(0, sinceMs)), () => void this.#read(pod, reading));
  }

  async #read(pod: GatewayPod, reading: Reading): Promise<void> {
    const { clock, instances, read, signal, logger } = this.#options;
    const { namespace = "", name = "", labels } = pod.metadata ?? {};
    const instance = instances.get({ namespace, name: labels?.[LABEL.instance] ?? "" });
    reading.beganMs = clock.now();
    try {
      const response = await read(pod, instance?.spec.metricScrapeMode ?? INSTANCE_DEFAULTS.metricScrapeMode, signal);
      reading.report = response.status === 200 ? parseDiscovery(response.body) : undefined;
    } catch (error) {
      reading.report = undefined;
      // The old generation is kept for the whole settle time: slower, and safe.
      if (!signal.aborted)
        logger.debug("a gateway did not report its endpoints", { namespace, pod: name, error: String(error) });
    }
    reading.isDue = false;
    this.#notify(namespace);
  }

  /** When no gateway of the namespace is being read any more. */
  #notify(namespace: string): void {
    const isReading = this.#options.gateways.list(namespace).some((pod) => this.#readingOf(pod).isDue);
    if (isReading) return;
    for (const [key, engine] of this.#waiting) {
      if (engine.namespace !== namespace) continue;
      this.#waiting.delete(key);
      for (const listener of this.#listeners) listener(engine);
    }
  }
}

function isOver(phase: string | undefined): boolean {
  return phase === "Succeeded" || phase === "Failed";
}
