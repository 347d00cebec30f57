// A serving pair generated in memory, for servers whose clients do not verify certificates: it encrypts but does not
// authenticate. It is replaced after two thirds of its lifetime and never stored.
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { pause } from "../core/until-aborted.ts";
import { type CertificateSource, inspectPair, PairHolder, type ServingPair } from "./serving-certificate.ts";
import { createRoot, issueCertificate } from "./x509/certificate.ts";

/** Options of a self-signed certificate. */
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
/** The clocks of clients differ. */
const BACKDATE_MS = 3_600_000;
/** Timers stop while a machine is suspended, so the time is checked now and then. */
const LONGEST_WAIT_MS = DAY_MS;

/** A pair generated in memory, for servers whose clients do not verify certificates. */
export function createSelfSignedCertificate(options: SelfSignedOptions): CertificateSource {
  return new SelfSignedCertificate(options);
}

class SelfSignedCertificate extends PairHolder implements CertificateSource {
  readonly #options: SelfSignedOptions;

  constructor(options: SelfSignedOptions) {
    super();
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { hosts, clock, logger, lifetimeMs = LIFETIME_MS } = this.#options;
    let renewMs = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      const nowMs = clock.now();
      if (nowMs >= renewMs) {
        const pair = makePair(hosts, nowMs, lifetimeMs);
        this.set(pair);
        renewMs = nowMs + lifetimeMs * RENEW_AT;
        logger.info("self-signed certificate generated", { expires: new Date(pair.expiresMs).toISOString() });
      }
      await pause(clock, Math.min(renewMs - nowMs, LONGEST_WAIT_MS), signal);
    }
  }
}

/** The root that signed it is presented along with it, and its key discarded. */
function makePair(hosts: SelfSignedOptions["hosts"], nowMs: number, lifetimeMs: number): ServingPair {
  const validity = { fromMs: nowMs - BACKDATE_MS, toMs: nowMs + lifetimeMs };
  const root = createRoot({ commonName: `${hosts[0]}-self-signed`, ...validity });
  const leaf = issueCertificate(root, { commonName: hosts[0], usages: ["server"], hosts, ...validity });
  return inspectPair({ key: leaf.key, certificate: leaf.certificate + root.certificate });
}
