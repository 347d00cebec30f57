// The certificate that a TLS server presents, and where it comes from. A source provides a usable pair and replaces it
// over time; each source decides how and when. Nothing here listens.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { untilAborted } from "../core/until-aborted.ts";
import type { KeyPair } from "./x509/certificate.ts";

/** A verified pair: the key belongs to the certificate. */
export interface ServingPair extends KeyPair {
  /** Milliseconds since the epoch. */
  readonly expiresMs: number;
  /** SHA-256 of the certificate, for logs and comparisons. */
  readonly fingerprint: string;
}

/** Provides the certificate of a server and keeps it current. */
export interface CertificateSource {
  /** Keeps the pair current until the signal fires. Rejects if there is no first pair in time. */
  run(signal: AbortSignal): Promise<void>;
  /** The pair for new connections. */
  readonly current: ServingPair | undefined;
  whenLoaded(signal: AbortSignal): Promise<ServingPair>;
  /** Called with every new pair, and at once with the current one. Returns a function that unsubscribes. */
  onPair(listener: (pair: ServingPair) => void): () => void;
}

/** Metrics hooks of a source. They must not throw. */
export interface CertificateObserver {
  /** The source checked for a pair. */
  read?(): void;
  /** The check failed: the pair is missing or unusable. */
  failed?(): void;
  /** A new pair is in use. */
  loaded?(pair: ServingPair): void;
}

/** The pair cannot be used; the message says why. */
export class UnusablePairError extends Error {
  override readonly name = "UnusablePairError";
}

/** Throws {@link UnusablePairError} unless both parse and belong together. A chain may follow the certificate. */
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

/** Base of certificate sources: holds the current pair and notifies listeners. A source adds `run`. */
export class PairHolder {
  readonly #listeners = new Set<(pair: ServingPair) => void>();
  readonly #loaded = Promise.withResolvers<ServingPair>();
  #current: ServingPair | undefined;

  get current(): ServingPair | undefined {
    return this.#current;
  }

  /** False if that pair is already in use. */
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
