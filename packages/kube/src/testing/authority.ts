// A certificate authority for one disposable control plane. Writes no files, and is not for production: nothing can be
// revoked or renewed.
import {
  type CertificateRequest as CompleteRequest,
  createRoot,
  issueCertificate,
  type KeyPair,
  type Validity,
} from "../certificates/x509/certificate.ts";

export { createSigningKey, type KeyPair } from "../certificates/x509/certificate.ts";

export type CertificateRequest = Omit<CompleteRequest, keyof Validity>;

/** A certificate authority that lasts as long as a test. */
export interface Authority {
  /** The root certificate, PEM. */
  readonly certificate: string;
  issue(request: CertificateRequest): KeyPair;
}

const HOUR_MS = 3_600_000;
const LIFETIME_MS = 365 * 24 * HOUR_MS;

/** Creates a root key and certificate that can issue others. */
export function createAuthority(commonName: string): Authority {
  const root = createRoot({ commonName, ...validFromNow() });
  return {
    certificate: root.certificate,
    issue: (request) => issueCertificate(root, { ...request, ...validFromNow() }),
  };
}

function validFromNow(): Validity {
  const nowMs = Date.now();
  // An hour of slack, so that the certificate is valid for a clock that is slightly behind.
  return { fromMs: nowMs - HOUR_MS, toMs: nowMs + LIFETIME_MS };
}
