// A serving certificate that the replicas manage themselves: root and leaf in one Secret, the root in the webhook
// configurations. Every replica runs the same loop; the first write wins and the others read it. plan.ts decides what
// is due.
import { type CacheOptions, createObjectCache } from "../../cache/cache.ts";
import type { KubeClient } from "../../client/client.ts";
import type { Clock } from "../../core/clock.ts";
import { isConflict, isInvalid } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import type { KubeObject, ObjectKey } from "../../core/object.ts";
import type { ResourceType } from "../../core/resource.ts";
import { WakeUp } from "../../core/wake-up.ts";
import { Secret } from "../../kinds/index.ts";
import { type CertificateObserver, type CertificateSource, inspectPair, PairHolder } from "../serving-certificate.ts";
import {
  type ObservedTrust,
  observeTrust,
  renderTrustPatch,
  type TrustTarget,
  trustsEverywhere,
} from "../webhook-trust.ts";
import {
  type CertificatePolicy,
  DEFAULT_POLICY,
  type Material,
  planCertificates,
  renewMaterial,
  trustBundle,
} from "./plan.ts";
import { readMaterial, writeMaterial } from "./secret.ts";

/** Options of a self-managed certificate. */
export interface ManagedCertificateOptions {
  /** Must be able to write in every replica, so it must not carry the fence of the leader. */
  readonly client: KubeClient;
  readonly secret: Required<ObjectKey>;
  /** DNS names and IPv4 addresses by which clients reach the server. */
  readonly hosts: readonly string[];
  /** Webhook configurations whose CA bundle is kept current. */
  readonly trust: readonly TrustTarget[];
  readonly fieldManager: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer?: CertificateObserver;
  readonly policy?: CertificatePolicy;
  /** How long to wait for the first pair. Default 60 s. */
  readonly startTimeoutMs?: number;
}

const START_TIMEOUT_MS = 60_000;
const CALL = { timeoutMs: 10_000 };
/** Changes are watched; this is for a watch that is not permitted, or misses an event. */
const LONGEST_PAUSE_MS = 3_600_000;
const RETRY_MS = { first: 500, longest: 30_000 };
/** Each step of a rotation is one write; lost races are repeated. */
const MAX_STEPS = 10;

/** The certificate as stored, the trust as observed, and when the next step is due. */
interface Settled {
  readonly material: Material;
  readonly observed: readonly ObservedTrust[];
  readonly untilMs: number;
}

/** A pair that the replicas manage themselves: root and leaf in one Secret, the root in the webhook configurations. */
export function createManagedCertificate(options: ManagedCertificateOptions): CertificateSource {
  return new ManagedCertificate(options);
}

class ManagedCertificate extends PairHolder implements CertificateSource {
  readonly #options: ManagedCertificateOptions;
  readonly #observer: CertificateObserver;
  readonly #wakeUp: WakeUp;

  constructor(options: ManagedCertificateOptions) {
    super();
    this.#options = options;
    this.#observer = options.observer ?? {};
    this.#wakeUp = new WakeUp(options.clock);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { secret, trust } = this.#options;
    const ended = new AbortController();
    const both = AbortSignal.any([signal, ended.signal]);
    const watches = [
      this.#watch(Secret, secret.name, { namespaces: [secret.namespace] }),
      ...trust.map(({ type, name }) => this.#watch(type, name)),
    ];
    const watching = Promise.all(watches.map((cache) => cache.run(both)));
    try {
      await Promise.race([this.#loop(signal), watching]);
    } finally {
      ended.abort();
      await watching;
    }
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const { clock, logger, secret, startTimeoutMs = START_TIMEOUT_MS } = this.#options;
    const startedMs = clock.monotonicMs();
    let retryMs = RETRY_MS.first;
    while (!signal.aborted) {
      try {
        const untilMs = await this.#pass(signal);
        retryMs = RETRY_MS.first;
        await this.#wakeUp.wait(Math.min(untilMs - clock.now(), LONGEST_PAUSE_MS), signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#observer.failed?.();
        logger.error("certificate cannot be kept current, retrying", error, { secret: secret.name });
        if (this.current === undefined && clock.monotonicMs() - startedMs >= startTimeoutMs)
          throw new Error(`no serving certificate within ${startTimeoutMs / 1000} s`, { cause: error });
        await this.#wakeUp.wait(retryMs, signal);
        retryMs = Math.min(2 * retryMs, RETRY_MS.longest);
      }
    }
  }

  /** Returns the time at which the next pass is due. */
  async #pass(signal: AbortSignal): Promise<number> {
    this.#observer.read?.();
    const { material, observed, untilMs } = await this.#settle(signal);
    this.#load(material);
    const written = await Promise.all(observed.map((one) => this.#writeTrust(material, one, signal)));
    return written.every(Boolean) ? untilMs : this.#options.clock.now() + RETRY_MS.first;
  }

  /** Renews the stored material until nothing is due. */
  async #settle(signal: AbortSignal): Promise<Settled> {
    const { client, secret: key, trust, hosts, clock, logger, fieldManager, policy = DEFAULT_POLICY } = this.#options;
    const call = { ...CALL, signal };
    for (let step = 0; step < MAX_STEPS; step++) {
      // In this order: what is then written into a configuration is never older than what was read from it.
      const observed = await observeTrust(client, trust, call);
      const stored = await readMaterial(client, key, call);
      const { material } = stored;
      const next = material?.next?.certificate;
      const nextTrusted = next !== undefined && trustsEverywhere(observed, next);
      const situation = { material, nowMs: clock.now(), hosts, nextTrusted, policy };
      const plan = planCertificates(situation);
      if (plan.type === "keep" && material !== undefined) return { material, observed, untilMs: plan.untilMs };
      if (plan.type === "keep") break;
      const renewed = renewMaterial(plan.type, situation);
      const result = await writeMaterial(client, { key, fieldManager, stored }, renewed, call);
      if (result === "written") logger.info("certificate renewed", { step: plan.type, secret: key.name });
    }
    throw new Error(`Secret ${key.namespace}/${key.name} does not settle: other replicas keep changing it`);
  }

  #load(material: Material): void {
    const pair = inspectPair(material.leaf);
    if (!this.set(pair)) return;
    this.#observer.loaded?.(pair);
    const { logger, secret } = this.#options;
    logger.info("certificate loaded", { secret: secret.name, expires: new Date(pair.expiresMs).toISOString() });
  }

  /** False if the configuration has changed since it was read. */
  async #writeTrust(material: Material, observed: ObservedTrust, signal: AbortSignal): Promise<boolean> {
    const { client, logger, fieldManager } = this.#options;
    const { target, configuration } = observed;
    const body = renderTrustPatch(configuration, trustBundle(material));
    if (body === undefined) return true;
    try {
      await client.patch(target.type, { name: target.name }, { type: "json", body }, { ...CALL, signal, fieldManager });
      logger.info("CA bundle written", { configuration: target.name, kind: target.type.kind });
      return true;
    } catch (error) {
      // The API server returns 422 if the test operation of a JSON patch fails.
      if (isConflict(error) || isInvalid(error)) return false;
      throw error;
    }
  }

  #watch<T extends KubeObject>(type: ResourceType<T>, name: string, more: Partial<CacheOptions<T>> = {}) {
    const { client, logger, clock } = this.#options;
    // Only used as a trigger: the data of a Secret must not stay in memory.
    const trim = (object: T): T => ({ ...object, data: undefined, webhooks: undefined });
    const fieldSelector = `metadata.name=${name}`;
    const cache = createObjectCache<T>({ client, type, logger, clock, fieldSelector, trim, ...more });
    cache.onEvent(() => this.#wakeUp.call());
    return cache;
  }
}
