// A serving certificate that the replicas make themselves: root and leaf in one Secret, the root in the webhook configurations.
// Every replica runs the same loop; whoever writes first wins and the others read. What is due is decided by the plan.
import { type CacheOptions, createObjectCache } from "../../cache/cache.ts";
import type { KubeClient } from "../../client/client.ts";
import type { Clock } from "../../core/clock.ts";
import { isConflict, isInvalid } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import type { KubeObject, ObjectKey } from "../../core/object.ts";
import type { ResourceType } from "../../core/resource.ts";
import { WakeUp } from "../../core/wake-up.ts";
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
import { readMaterial, SecretResource, writeMaterial } from "./secret.ts";

export interface ManagedCertificateOptions {
  /** Must be able to write in every replica: one that only the leader may use does not do. */
  readonly client: KubeClient;
  readonly secret: Required<ObjectKey>;
  /** DNS names and IPv4 addresses under which callers reach the server. */
  readonly hosts: readonly string[];
  /** Whose CA bundle is kept. */
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
/** Changes are watched; this is for a watch that is not permitted, or loses something. */
const LONGEST_PAUSE_MS = 3_600_000;
const RETRY_MS = { first: 500, longest: 30_000 };
/** Each step of a rotation is one write; lost races are repeated. */
const MAX_STEPS = 10;

/** A pair that the replicas make themselves: root and leaf in one Secret, the root in the webhook configurations. */
export function createManagedCertificate(options: ManagedCertificateOptions): CertificateSource {
  const { client, secret: key, clock, logger, observer = {}, policy = DEFAULT_POLICY } = options;
  const { startTimeoutMs = START_TIMEOUT_MS } = options;
  const holder = new PairHolder();
  const wakeUp = new WakeUp(clock);

  /** Brings the stored material up to date; answers it with the time until when nothing is due. */
  const settle = async (signal: AbortSignal) => {
    const call = { ...CALL, signal };
    for (let step = 0; step < MAX_STEPS; step++) {
      // In this order: what is then written into a configuration is never older than what was read from it.
      const observed = await observeTrust(client, options.trust, call);
      const stored = await readMaterial(client, key, call);
      const { material } = stored;
      const next = material?.next?.certificate;
      const nextTrusted = next !== undefined && trustsEverywhere(observed, next);
      const situation = { material, nowMs: clock.now(), hosts: options.hosts, nextTrusted, policy };
      const plan = planCertificates(situation);
      if (plan.type === "keep" && material !== undefined) return { material, observed, untilMs: plan.untilMs };
      if (plan.type === "keep") break;
      const renewed = renewMaterial(plan.type, situation);
      const target = { key, fieldManager: options.fieldManager, stored };
      const answer = await writeMaterial(client, target, renewed, call);
      if (answer === "written") logger.info("certificate renewed", { step: plan.type, secret: key.name });
    }
    throw new Error(`Secret ${key.namespace}/${key.name} does not settle: other replicas keep changing it`);
  };

  const load = (material: Material): void => {
    const pair = inspectPair(material.leaf);
    if (!holder.set(pair)) return;
    observer.loaded?.(pair);
    logger.info("certificate loaded", { secret: key.name, expires: new Date(pair.expiresMs).toISOString() });
  };

  /** False when a configuration has changed since it was read. */
  const tellCaller = async (material: Material, { target, configuration }: ObservedTrust, signal: AbortSignal) => {
    const body = renderTrustPatch(configuration, trustBundle(material));
    if (body === undefined) return true;
    const call = { ...CALL, signal, fieldManager: options.fieldManager };
    try {
      await client.patch(target.type, { name: target.name }, { type: "json", body }, call);
      logger.info("CA bundle written", { configuration: target.name, kind: target.type.kind });
      return true;
    } catch (error) {
      // A failed test of a JSON patch is answered with 422.
      if (isConflict(error) || isInvalid(error)) return false;
      throw error;
    }
  };

  /** The time until when nothing is due. */
  const pass = async (signal: AbortSignal): Promise<number> => {
    observer.read?.();
    const { material, observed, untilMs } = await settle(signal);
    load(material);
    const told = await Promise.all(observed.map((one) => tellCaller(material, one, signal)));
    return told.every(Boolean) ? untilMs : clock.now() + RETRY_MS.first;
  };

  const loop = async (signal: AbortSignal): Promise<void> => {
    const startedMs = clock.monotonicMs();
    let retryMs = RETRY_MS.first;
    while (!signal.aborted) {
      try {
        const untilMs = await pass(signal);
        retryMs = RETRY_MS.first;
        await wakeUp.wait(Math.min(untilMs - clock.now(), LONGEST_PAUSE_MS), signal);
      } catch (error) {
        if (signal.aborted) return;
        observer.failed?.();
        logger.error("certificate cannot be kept current", error, { secret: key.name });
        if (holder.current === undefined && clock.monotonicMs() - startedMs >= startTimeoutMs)
          throw new Error(`no serving certificate within ${startTimeoutMs / 1000} s`, { cause: error });
        await wakeUp.wait(retryMs, signal);
        retryMs = Math.min(2 * retryMs, RETRY_MS.longest);
      }
    }
  };

  const watchOne = <T extends KubeObject>(type: ResourceType<T>, name: string, more: Partial<CacheOptions<T>> = {}) => {
    // Only told that something changed: nothing of a Secret stays in memory.
    const trim = (object: T): T => ({ ...object, data: undefined, webhooks: undefined });
    const fieldSelector = `metadata.name=${name}`;
    const cache = createObjectCache<T>({ client, type, logger, clock, fieldSelector, trim, ...more });
    cache.onEvent(() => wakeUp.call());
    return cache;
  };

  return {
    get current() {
      return holder.current;
    },
    whenLoaded: (signal) => holder.whenLoaded(signal),
    onPair: (listener) => holder.onPair(listener),
    async run(signal) {
      const ended = new AbortController();
      const both = AbortSignal.any([signal, ended.signal]);
      const watches = [
        watchOne(SecretResource, key.name, { namespaces: [key.namespace] }),
        ...options.trust.map(({ type, name }) => watchOne(type, name)),
      ];
      const watching = Promise.all(watches.map((cache) => cache.run(both)));
      try {
        await Promise.race([loop(signal), watching]);
      } finally {
        ended.abort();
        await watching;
      }
    },
  };
}
