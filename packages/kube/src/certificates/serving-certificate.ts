// The certificate that a TLS server shows, and where it comes from. A source hands out one usable pair after another; how
// and when it gets a new one is its own business. Nothing here listens.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { untilAborted } from "../core/until-aborted.ts";
import type { KeyPair } from "./x509/certificate.ts";

/** A pair that has been looked at: the key belongs to the certificate. */
export interface ServingPair extends KeyPair {
  /** Milliseconds since the epoch. */
  readonly expiresMs: number;
  /** SHA-256 of the certificate, for logs and comparisons. */
  readonly fingerprint: string;
}

/** Hands out one usable pair after another. */
export interface CertificateSource {
  /** Keeps the pair current until the signal fires. Rejects when there is none to begin with in time. */
  run(signal: AbortSignal): Promise<void>;
  /** The pair to show to new connections. */
  readonly current: ServingPair | undefined;
  whenLoaded(signal: AbortSignal): Promise<ServingPair>;
  /** Told of every new pair, and at once of the present one. Returns the way to unsubscribe. */
  onPair(listener: (pair: ServingPair) => void): () => void;
}

/** Hooks for metrics. They must not throw. */
export interface CertificateObserver {
  /** A pair was looked for. */
  read?(): void;
  /** … and was missing or unusable. */
  failed?(): void;
  /** A new pair is in use. */
  loaded?(pair: ServingPair): void;
}

/** The pair cannot be served; the message says why. */
export class UnusablePairError extends Error {
  override readonly name = "UnusablePairError";
}

/** Throws {@link UnusablePairError} unless both parse and belong together. Chains may follow the certificate. */
export function inspectPair({ certificate, key }: KeyPair): ServingPair {
  try {
    const parsed = new X509Certificate(certificate);
    if (!parsed.checkPrivateKey(createPrivateKey(key)))
      throw new UnusablePairError("the private key does not belong to the certificate");
    return { certificate, key, expiresMs: parsed.validToDate.getTime(), fingerprint: parsed.fingerprint256 };
  } catch (cause) {
    if (cause instanceof UnusablePairError) throw cause;
    throw new UnusablePairError(`not a certificate and its key: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
}

/** What a source keeps its pair in. */
export class PairHolder {
  readonly #listeners = new Set<(pair: ServingPair) => void>();
  readonly #loaded = Promise.withResolvers<ServingPair>();
  #current: ServingPair | undefined;

  get current(): ServingPair | undefined {
    return this.#current;
  }

  /** False when that pair is in use already. */
  set(pair: ServingPair): boolean {
    if (this.#current?.fingerprint === pair.fingerprint && this.#current.certificate === pair.certificate) return false;
    this.#current = pair;
    for (const listener of this.#listeners) listener(pair);
    this.#loaded.resolve(pair);
    return true;
  }

  whenLoaded(signal: AbortSignal): Promise<ServingPair> {
    return untilAborted(this.#loaded.promise, signal);
  }

  onPair(listener: (pair: ServingPair) => void): () => void {
    this.#listeners.add(listener);
    if (this.#current !== undefined) listener(this.#current);
    return () => this.#listeners.delete(listener);
  }
}
