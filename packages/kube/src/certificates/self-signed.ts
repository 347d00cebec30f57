// A serving pair made up in memory, for servers whose callers do not check who answers: it encrypts and proves nothing. A new one
// takes its place after two thirds of its life. Nothing of it is stored anywhere.
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { pause } from "../core/until-aborted.ts";
import { type CertificateSource, inspectPair, PairHolder, type ServingPair } from "./serving-certificate.ts";
import { createRoot, issueCertificate } from "./x509/certificate.ts";

export interface SelfSignedOptions {
  /** Names and IPv4 addresses; the first is the common name. */
  readonly hosts: readonly [string, ...string[]];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default 90 days. */
  readonly lifetimeMs?: number;
}

const DAY_MS = 24 * 3_600_000;
const LIFETIME_MS = 90 * DAY_MS;
const RENEW_AT = 2 / 3;
/** Callers' clocks differ. */
const BACKDATE_MS = 3_600_000;
/** Timers stand still with a suspended machine: the time is looked up now and then. */
const LONGEST_WAIT_MS = DAY_MS;

/** A pair made up in memory, for servers whose callers do not check who answers. */
export function createSelfSignedCertificate(options: SelfSignedOptions): CertificateSource {
  const { clock, logger, lifetimeMs = LIFETIME_MS } = options;
  const holder = new PairHolder();
  return {
    get current() {
      return holder.current;
    },
    whenLoaded: (signal) => holder.whenLoaded(signal),
    onPair: (listener) => holder.onPair(listener),
    async run(signal) {
      let renewMs = Number.NEGATIVE_INFINITY;
      while (!signal.aborted) {
        const nowMs = clock.now();
        if (nowMs >= renewMs) {
          const pair = makePair(options.hosts, nowMs, lifetimeMs);
          holder.set(pair);
          renewMs = nowMs + lifetimeMs * RENEW_AT;
          logger.info("self-signed certificate made", { expires: new Date(pair.expiresMs).toISOString() });
        }
        await pause(clock, Math.min(renewMs - nowMs, LONGEST_WAIT_MS), signal);
      }
    },
  };
}

/** The root that signs it is shown along with it, and forgotten. */
function makePair(hosts: SelfSignedOptions["hosts"], nowMs: number, lifetimeMs: number): ServingPair {
  const validity = { fromMs: nowMs - BACKDATE_MS, toMs: nowMs + lifetimeMs };
  const root = createRoot({ commonName: `${hosts[0]}-self-signed`, ...validity });
  const leaf = issueCertificate(root, { commonName: hosts[0], usages: ["server"], hosts, ...validity });
  return inspectPair({ key: leaf.key, certificate: leaf.certificate + root.certificate });
}
