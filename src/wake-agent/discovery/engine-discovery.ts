// Which engines Envoy gets as clusters of its own (docs/design/gateway.md#discovery): an engine from its first query
// on, until it is deleted or has not been requested for long. A query is sent to such a cluster only after Envoy has
// accepted the cluster and its endpoints on the stream that is open now; otherwise the engine is resolved by name.
import type { Clock, Logger } from "@firebolt-operator/kube";
import { generationOfPod } from "../kinds.ts";
import { DeltaStream } from "./delta-stream.ts";
import { encodeEndpoints, encodeEngineCluster } from "./engine-cluster.ts";
import type { DiscoveryRequest, DiscoveryResponse, Resource } from "./messages.ts";

/** A pod that queries can be sent to. */
export interface EngineEndpoint {
  readonly address: string;
  readonly pod: string;
}

export interface EngineDiscoveryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly namespace: string;
  /** The ready pods of the engine, as far as the watch shows. */
  readonly endpoints: (engine: string) => readonly EngineEndpoint[];
  /** Whether there is such an engine, as far as the watches show. */
  readonly exists: (engine: string) => boolean;
  /** What was reported to the gateway about engines is no longer valid: it has to check them again. */
  readonly invalidate: () => void;
}

/** Less than a gateway waits for the response to a check. */
const ACCEPT_MS = 1_000;
/**
 * The endpoints of an engine without ready pods are kept for this long: a worker of the gateway learns within 1.25 s
 * that the next query has to be held, and until then its queries still reach a pod that is about to terminate.
 */
export const WITHDRAW_MS = 2_000;
/** As above, for clusters: of engines that were deleted, and those of an earlier agent that are not published. */
const REMOVE_MS = 5_000;
/** How often a gateway has to check every engine that it uses, and when an engine counts as unused. */
const RENUMBER_MS = 5 * 60_000;
const UNUSED_MS = 3 * RENUMBER_MS;
const LOG_EVERY_MS = 60_000;

interface Published {
  readonly cluster: Resource;
  endpoints: Resource;
  pods: readonly EngineEndpoint[];
  usedMs: number;
  /** Cancels what is scheduled for it: endpoints or the cluster are withdrawn. */
  cancel: (() => void) | undefined;
}

/** One connected Envoy. */
export interface DiscoveryPeer {
  receive(request: DiscoveryRequest): void;
  /** The stream has ended. */
  close(): void;
}

export class EngineDiscovery {
  readonly #options: EngineDiscoveryOptions;
  readonly #published = new Map<string, Published>();
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Engines that the gateway resolves by name because Envoy took too long to accept them. */
  readonly #late = new Set<string>();
  #stream: DeltaStream | undefined;
  /** Ends the transport of the stream. */
  #endStream: (() => void) | undefined;
  /** The stream has requested clusters. */
  #isOpen = false;
  /** The watch of endpoints is lost: Envoy may have addresses that other pods use by now. */
  #isSuspended = false;
  #renumbered = 0;
  #rejections = 0;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor(options: EngineDiscoveryOptions) {
    this.#options = options;
  }

  /** Increases when the gateway should check again, but need not hurry. */
  get renumbered(): number {
    return this.#renumbered;
  }

  get connected(): boolean {
    return this.#isOpen;
  }

  /** Resources that Envoy rejected so far. */
  get rejections(): number {
    return this.#rejections;
  }

  /** Engines that Envoy has, or is getting, as clusters. */
  get engines(): readonly string[] {
    return [...this.#published.keys()];
  }

  /**
   * A stream counts once it has requested clusters. The one before no longer does, and is ended: what was accepted
   * there may have been lost with it.
   */
  connect(send: (response: DiscoveryResponse) => void, end?: () => void): DiscoveryPeer {
    let isReplaced = false;
    const stream = new DeltaStream({
      send,
      wanted: (kind, name) => this.#published.get(name)?.[kind],
      onOpen: (names) => {
        const endFormer = this.#endStream;
        this.#disconnect();
        this.#stream = stream;
        this.#endStream = () => {
          isReplaced = true;
          end?.();
        };
        endFormer?.();
        this.#onOpen(stream, names);
      },
      onProgress: (name) => this.#onProgress(stream, name),
      onRejected: (name, error) => this.#onRejected(name, error),
    });
    return {
      receive: (request) => {
        if (!isReplaced) stream.receive(request);
      },
      close: () => {
        if (this.#stream === stream) this.#disconnect();
      },
    };
  }

  /** Whether queries for the engine may be sent to its cluster from now on. Waits until Envoy has accepted it. */
  async publish(engine: string): Promise<boolean> {
    const { clock, endpoints } = this.#options;
    const pods = endpoints(engine);
    if (this.#stream === undefined || !this.#isOpen || this.#isSuspended || pods.length === 0) return false;
    const published = this.#published.get(engine) ?? this.#add(engine, pods);
    published.usedMs = clock.monotonicMs();
    this.#stream.offer(engine);
    if (this.#stream.isSettled(engine)) return true;
    await this.#settled(engine);
    if (!this.#isSuspended && this.#stream?.isSettled(engine) === true) return true;
    // The gateway remembers that it has no cluster of this engine: it has to check again once there is one.
    this.#late.add(engine);
    return false;
  }

  /** The endpoints can no longer be trusted, or again: the gateway resolves names meanwhile. */
  suspend(isSuspended: boolean): void {
    if (this.#isSuspended === isSuspended) return;
    this.#isSuspended = isSuspended;
    const { logger, invalidate } = this.#options;
    if (isSuspended) logger.info("the watch of endpoints is lost; engines are resolved by name until it is back");
    invalidate();
  }

  /** The watches show something new about this engine. */
  update(engine: string): void {
    const published = this.#published.get(engine);
    if (published === undefined) return;
    const { clock, endpoints, exists } = this.#options;
    const pods = endpoints(engine);
    published.cancel?.();
    published.cancel = undefined;
    if (pods.length > 0) this.#replace(engine, published, pods);
    else if (!exists(engine)) published.cancel = clock.after(REMOVE_MS, () => this.#remove(engine));
    else if (published.pods.length > 0)
      published.cancel = clock.after(WITHDRAW_MS, () => this.#replace(engine, published, []));
  }

  /** Removes what is no longer used. Called from time to time. */
  sweep(): void {
    const unused = this.#options.clock.monotonicMs() - UNUSED_MS;
    for (const [engine, { usedMs }] of this.#published) if (usedMs < unused) this.#remove(engine);
    if (this.#published.size > 0) this.#renumbered++;
  }

  /**
   * The generations that queries are sent to, with the number of their pods: what Envoy has accepted, and what it would
   * get for an engine that has not been requested yet.
   */
  generations(engine: string): ReadonlyMap<number, number> {
    const pods = this.#published.get(engine)?.pods ?? this.#options.endpoints(engine);
    const counts = new Map<number, number>();
    for (const { pod } of pods) {
      const generation = generationOfPod(pod) ?? -1;
      counts.set(generation, (counts.get(generation) ?? 0) + 1);
    }
    return counts;
  }

  /** Envoy has accepted everything that it was sent of this engine. */
  isAccepted(engine: string): boolean {
    return !this.#published.has(engine) || (this.#stream?.isSettled(engine) ?? false);
  }

  #add(engine: string, pods: readonly EngineEndpoint[]): Published {
    const { clock } = this.#options;
    const published: Published = {
      cluster: encodeEngineCluster(engine),
      endpoints: this.#encode(engine, pods),
      pods,
      usedMs: clock.monotonicMs(),
      cancel: undefined,
    };
    this.#published.set(engine, published);
    return published;
  }

  #replace(engine: string, published: Published, pods: readonly EngineEndpoint[]): void {
    published.pods = pods;
    published.endpoints = this.#encode(engine, pods);
    this.#stream?.offer(engine);
  }

  #encode(engine: string, pods: readonly EngineEndpoint[]): Resource {
    const addresses = pods.map(({ address }) => address).sort();
    return encodeEndpoints(engine, this.#options.namespace, addresses);
  }

  #remove(engine: string): void {
    this.#published.get(engine)?.cancel?.();
    this.#published.delete(engine);
    this.#late.delete(engine);
    this.#stream?.offer(engine);
    this.#notify(engine);
  }

  /** Engines that this Envoy had from an earlier agent are in use: it keeps them. */
  #onOpen(stream: DeltaStream, names: readonly string[]): void {
    this.#isOpen = true;
    const { clock, endpoints, logger, invalidate } = this.#options;
    for (const name of names) {
      const pods = endpoints(name);
      if (pods.length > 0 && !this.#published.has(name)) this.#add(name, pods);
    }
    // Otherwise Envoy would keep them for ever.
    clock.after(REMOVE_MS, () => {
      for (const name of names) stream.offer(name);
    });
    for (const name of this.#published.keys()) stream.offer(name);
    logger.info("Envoy discovers engines from this agent", { engines: this.#published.size });
    invalidate();
  }

  #disconnect(): void {
    const wasOpen = this.#isOpen;
    this.#stream = undefined;
    this.#endStream = undefined;
    this.#isOpen = false;
    // What is accepted on the next stream starts with an invalidation.
    this.#late.clear();
    for (const engine of [...this.#waiting.keys()]) this.#notify(engine);
    if (!wasOpen) return;
    this.#options.logger.info("Envoy has closed its discovery stream; engines are resolved by name until it is back");
    this.#options.invalidate();
  }

  #onRejected(engine: string, error: string): void {
    this.#rejections++;
    const { clock, logger, invalidate } = this.#options;
    // Envoy still has what it was sent before, which may be gone by now.
    invalidate();
    const now = clock.monotonicMs();
    if (now - this.#loggedMs < LOG_EVERY_MS) return;
    this.#loggedMs = now;
    logger.error("Envoy rejected an engine's cluster; the engine is resolved by name", new Error(error), { engine });
  }

  /** Resolves when Envoy has accepted or rejected the engine, the stream has ended, or it takes too long. */
  #settled(engine: string): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      const check = (): void => {
        const stream = this.#stream;
        if (
          stream === undefined ||
          !this.#published.has(engine) ||
          stream.isSettled(engine) ||
          stream.isRejected(engine)
        )
          end();
      };
      const waiting = this.#waiting.get(engine) ?? new Set();
      const end = (): void => {
        cancel();
        waiting.delete(check);
        if (waiting.size === 0) this.#waiting.delete(engine);
        resolve();
      };
      const cancel = clock.after(ACCEPT_MS, end);
      this.#waiting.set(engine, waiting.add(check));
      check();
    });
  }

  #onProgress(stream: DeltaStream, engine: string): void {
    if (this.#stream !== stream) return;
    this.#notify(engine);
    if (stream.isSettled(engine) && this.#late.delete(engine)) this.#options.invalidate();
  }

  #notify(engine: string): void {
    for (const check of [...(this.#waiting.get(engine) ?? [])]) check();
  }
}

export const SWEEP_EVERY_MS = RENUMBER_MS;
