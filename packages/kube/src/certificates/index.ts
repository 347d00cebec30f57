// Serving certificates: from files, self-signed, or managed in a Secret with the CA bundles of webhooks; and X.509
// itself.
export { type CertificateFilesOptions, createCertificateFiles } from "./files.ts";
export { createManagedCertificate, type ManagedCertificateOptions } from "./managed/managed-certificate.ts";
export { createSelfSignedCertificate, type SelfSignedOptions } from "./self-signed.ts";
export {
  type CertificateObserver,
  type CertificateSource,
  inspectPair,
  PairHolder,
  type ServingPair,
  UnusablePairError,
} from "./serving-certificate.ts";
export type { TrustTarget, WebhookConfiguration } from "./webhook-trust.ts";
export {
  type CertificateRequest,
  createRoot,
  createSigningKey,
  issueCertificate,
  type KeyPair,
  type RootRequest,
  type Validity,
} from "./x509/certificate.ts";
