// Certificates and keys for connections, from inline PEM or from files that rotate. Returns the same object until
// something changes, so that connections can be replaced by comparing identity.
import type { ClusterConfig, PemSource } from "./cluster-config.ts";
import { RotatingFile, type RotatingFileOptions } from "./rotating-file.ts";

export interface TlsMaterial {
  /** Undefined: the authorities that Node trusts. */
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface TlsSource {
  /** A certificate issued by a credential plugin takes precedence over the configured one. */
  current(issued: ClientCertificate | undefined): TlsMaterial;
  ca(): string | undefined;
}

export function createTlsSource(config: ClusterConfig, files: Omit<RotatingFileOptions, "path">): TlsSource {
  const reader = (source: PemSource | undefined): (() => string | undefined) => {
    if (source === undefined) return () => undefined;
    if (source.type === "inline") return () => source.pem;
    const file = new RotatingFile({ ...files, path: source.path });
    return () => file.current();
  };
  const ca = reader(config.certificateAuthority);
  const cert = reader(config.clientCertificate?.certificate);
  const key = reader(config.clientCertificate?.key);
  let last: TlsMaterial = { ca: undefined, cert: undefined, key: undefined };
  return {
    current(issued) {
      const next = { ca: ca(), cert: issued?.cert ?? cert(), key: issued?.key ?? key() };
      if (next.ca !== last.ca || next.cert !== last.cert || next.key !== last.key) last = next;
      return last;
    },
    ca,
  };
}
