// Polls the gateways for demand (docs/design/auto-stop.md#holding-queries): every two seconds, only in namespaces with
// an engine that demand could wake, each pod by itself and in turns, so that gateways that hang do not delay the
// others. Keeps what they show of such engines and reports what is newer. Decides nothing.

import { type Clock, formatKey, type Logger, pause, WakeUp } from "@firebolt-operator/kube";
import type { ObjectCache } from "@firebolt-operator/kube/cache";
import type { Runnable } from "@firebolt-operator/kube/controller";
import { INSTANCE_DEFAULTS } from "../../api/defaults.ts";
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import type { WakeDemand } from "../auto-stop/wake-request.ts";
import type { EngineKey } from "../cluster/engine-cluster.ts";
import { type AgentAddress, type GatewayPod, hasAgent, type ReadGateway } from "../gateways/gateway-pods.ts";
import type { DemandSource } from "./demand-source.ts";
import { DemandTurns } from "./demand-turns.ts";
import { type DemandReading, parseDemand } from "./parse-demand.ts";
import { WakeableEngines } from "./wakeable-engines.ts";

export interface DemandPollOptions {
  readonly engines: ObjectCache<FireboltEngine>;
  readonly instances: ObjectCache<FireboltInstance>;
  readonly gateways: ObjectCache<V1Pod>;
  readonly agent: AgentAddress;
  readonly read: ReadGateway;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onScrapeFailed: (namespace: string) => void;
}

const EVERY_MS = 2_000;
/** With nothing to wake the poll sleeps until it is notified; this only keeps the timer finite. */
const LONG_MS = 24 * 60 * 60_000;
const COMPLAIN_EVERY_MS = 60_000;

type Page = ReadonlyMap<string, DemandReading>;

export class DemandPoll implements Runnable, DemandSource {
  readonly name = "wake-demand";
  /** In every replica: a new leader knows at once. */
  readonly group = "background";
  readonly #options: DemandPollOptions;
  readonly #wakeable = new WakeableEngines();
  /** The last response of each gateway, by namespace and pod. */
  readonly #pages = new Map<string, Map<string, Page>>();
  readonly #turns = new DemandTurns();
  readonly #recorded = new Map<string, number>();
  readonly #listeners = new Set<(key: EngineKey) => void>();
  readonly #wakeUp: WakeUp;
  #complainedMs = Number.NEGATIVE_INFINITY;

  constructor(options: DemandPollOptions) {
    this.#options = options;
    this.#wakeUp = new WakeUp(options.clock);
  }

  of(key: EngineKey): WakeDemand | undefined {
    if (!this.#wakeable.has(key)) return undefined;
    let newest: WakeDemand | undefined;
    for (const [gateway, page] of this.#pages.get(key.namespace) ?? []) {
      const row = page.get(key.name);
      if (row === undefined) continue;
      const isWaitedFor = row.holds > 0 || (newest?.isWaitedFor ?? false);
      newest =
        newest === undefined || row.stampMs > newest.stampMs
          ? { stampMs: row.stampMs, isWaitedFor, gateway }
          : { ...newest, isWaitedFor };
    }
    return newest;
  }

  onDemand(listener: (key: EngineKey) => void): () => void {
    this.#listeners.add(listener);
    for (const namespace of this.#pages.keys()) for (const key of this.#keysIn(namespace)) listener(key);
    return () => this.#listeners.delete(listener);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { engines, clock } = this.#options;
    const stop = this.#wakeable.follow(engines, (key, isWakeable) => {
      if (isWakeable) this.#wakeUp.call();
      else this.#recorded.delete(formatKey(key));
    });
    try {
      while (!signal.aborted) {
        this.#forgetOthers();
        if (this.#wakeable.isEmpty) await this.#wakeUp.wait(LONG_MS, signal);
        else {
          this.#askAll(signal);
          await pause(clock, EVERY_MS, signal);
        }
      }
    } finally {
      stop();
      await this.#turns.end();
    }
  }

  #askAll(signal: AbortSignal): void {
    const pods = this.#wakeable.namespaces().flatMap((namespace) => this.#gatewaysIn(namespace));
    this.#turns.keep(new Set(pods.map(keyOf)));
    for (const pod of pods) this.#turns.add(keyOf(pod), () => this.#ask(pod, signal));
  }

  /** Whether it responded. */
  async #ask(pod: GatewayPod, signal: AbortSignal): Promise<boolean> {
    const { namespace = "", name = "" } = pod.metadata ?? {};
    try {
      const page = await this.#read(namespace, pod, signal);
      const pages = this.#pages.get(namespace) ?? new Map<string, Page>();
      this.#pages.set(namespace, pages.set(name, page));
      this.#tell(namespace);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      // Unknown is no demand; it is polled again in its next turn.
      this.#pages.get(namespace)?.delete(name);
      this.#options.onScrapeFailed(namespace);
      this.#complain(error, { namespace, pod: name });
      return false;
    }
  }

  async #read(namespace: string, pod: GatewayPod, signal: AbortSignal): Promise<Page> {
    const { instances, read } = this.#options;
    const instance = instances.get({ namespace, name: pod.metadata?.labels?.[LABEL.instance] ?? "" });
    const mode = instance?.spec.metricScrapeMode ?? INSTANCE_DEFAULTS.metricScrapeMode;
    const { status, body } = await read(pod, mode, signal);
    if (status !== 200) throw new Error(`/demand responded with status ${status}`);
    const page = parseDemand(body);
    if (page === undefined) throw new Error("/demand returned a response that is not in its format");
    // Names come from outside: only engines that could be woken are worth remembering.
    return new Map([...page].filter(([engine]) => this.#wakeable.has({ namespace, name: engine })));
  }

  #tell(namespace: string): void {
    for (const key of this.#keysIn(namespace)) {
      const { stampMs = 0 } = this.of(key) ?? {};
      if (stampMs <= (this.#recorded.get(formatKey(key)) ?? 0)) continue;
      this.#recorded.set(formatKey(key), stampMs);
      for (const listener of this.#listeners) listener(key);
    }
  }

  #keysIn(namespace: string): readonly EngineKey[] {
    const pages = [...(this.#pages.get(namespace)?.values() ?? [])];
    const names = new Set(pages.flatMap((page) => [...page.keys()]));
    return [...names].map((name) => ({ namespace, name })).filter((key) => this.#wakeable.has(key));
  }

  /** Responses of gateways that are no longer polled do not count. */
  #forgetOthers(): void {
    const wanted = new Set(this.#wakeable.namespaces());
    for (const [namespace, pages] of this.#pages) {
      const asked = wanted.has(namespace) ? new Set(this.#gatewaysIn(namespace).map(nameOf)) : new Set<string>();
      for (const pod of pages.keys()) if (!asked.has(pod)) pages.delete(pod);
      if (pages.size === 0) this.#pages.delete(namespace);
    }
  }

  #gatewaysIn(namespace: string): readonly GatewayPod[] {
    const { gateways, agent } = this.#options;
    return gateways.list(namespace).filter((pod) => isPolled(pod, agent));
  }

  #complain(error: unknown, where: { readonly namespace: string; readonly pod: string }): void {
    const { clock, logger } = this.#options;
    const now = clock.monotonicMs();
    if (now - this.#complainedMs < COMPLAIN_EVERY_MS) return;
    this.#complainedMs = now;
    logger.error("the demand of a gateway could not be read; retrying", error, where);
  }
}

/** One that terminates has notified its clients. */
function isPolled(pod: GatewayPod, agent: AgentAddress): boolean {
  const { metadata, status } = pod;
  return status?.phase === "Running" && metadata?.deletionTimestamp === undefined && hasAgent(pod, agent);
}

function nameOf({ metadata }: GatewayPod): string {
  return metadata?.name ?? "";
}

function keyOf({ metadata }: GatewayPod): string {
  return formatKey({ namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" });
}
