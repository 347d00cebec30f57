// Runs a TlsListener with a certificate source: listens once there is a certificate, follows its changes, and keeps it
// current until the last connection is closed.
import type { CertificateSource } from "../certificates/serving-certificate.ts";
import { untilAborted } from "../core/until-aborted.ts";
import type { TlsListener } from "./tls-listener.ts";

/** A listener with its certificate, and how it is stopped. */
export interface TlsServing {
  readonly listener: TlsListener;
  /** Run for as long as the listener runs. */
  readonly certificate: CertificateSource;
  readonly onListening: () => void;
  /** Stops the listener: how long requests in flight get is the caller's decision. Also called if it never listened. */
  readonly stop: () => Promise<void>;
}

/** Serves until the signal fires. Rejects if the address cannot be bound, or if there is no certificate in time. */
export async function runTlsListener(serving: TlsServing, signal: AbortSignal): Promise<void> {
  const keeping = new AbortController();
  const kept = serving.certificate.run(keeping.signal);
  try {
    await Promise.race([serve(serving, signal), kept]);
  } catch (error) {
    if (!(signal.aborted && error === signal.reason)) throw error;
  } finally {
    await serving.stop();
    keeping.abort();
    await kept;
  }
}

async function serve({ listener, certificate, onListening }: TlsServing, signal: AbortSignal): Promise<void> {
  const failed = Promise.withResolvers<never>();
  // It may reject before it is awaited below.
  failed.promise.catch(() => undefined);
  await listener.listen(await certificate.whenLoaded(signal), failed.reject);
  const unsubscribe = certificate.onPair((pair) => listener.replace(pair));
  onListening();
  try {
    await untilAborted(failed.promise, signal);
  } finally {
    unsubscribe();
  }
}
