// Decides the next step of the self-managed root and serving certificate: pure, the time is an argument. A new root is
// first announced (trusted, not used), then used, and only then is the old one no longer trusted. So at every moment
// the API server trusts whatever certificate a replica presents.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIPv4 } from "node:net";
import { createRoot, issueCertificate, type KeyPair } from "../x509/certificate.ts";

/** The contents of the Secret. */
export interface Material {
  readonly root: KeyPair;
  readonly leaf: KeyPair;
  /** Announced, not used yet. */
  readonly next?: KeyPair;
  /** Certificate of the previous root: replicas may still present a leaf of it. */
  readonly previous?: string;
}

export interface CertificatePolicy {
  readonly rootLifetimeMs: number;
  readonly leafLifetimeMs: number;
  /** Fraction of its lifetime after which a certificate is replaced. */
  readonly renewAt: number;
  /** How long a root is trusted before it is used, and after it is no longer used. */
  readonly overlapMs: number;
}

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
/** Certificates are valid from this long before they are issued: clocks differ. */
export const BACKDATE_MS = HOUR_MS;

export const DEFAULT_POLICY: CertificatePolicy = {
  rootLifetimeMs: 10 * YEAR_MS,
  leafLifetimeMs: YEAR_MS,
  renewAt: 0.6,
  overlapMs: HOUR_MS,
};

export type CertificatePlan =
  | { readonly type: "keep"; readonly untilMs: number }
  /** Nothing usable exists. */
  | { readonly type: "create" }
  | { readonly type: "issue-leaf" }
  | { readonly type: "announce-root" }
  | { readonly type: "switch-root" }
  | { readonly type: "retire-root" };

export interface CertificateSituation {
  readonly material: Material | undefined;
  readonly nowMs: number;
  /** Names and addresses that the serving certificate must be valid for. */
  readonly hosts: readonly string[];
  /** Whether all webhook configurations trust the next root. */
  readonly nextTrusted: boolean;
  readonly policy: CertificatePolicy;
}

export function planCertificates(s: CertificateSituation): CertificatePlan {
  const { material, nowMs, policy } = s;
  const root = material === undefined ? undefined : usable(material.root.certificate, nowMs);
  if (material === undefined || root === undefined) return { type: "create" };
  const next = material.next === undefined ? undefined : usable(material.next.certificate, nowMs);
  const nextUsable = material.next !== undefined && next !== undefined && ownsKey(next, material.next.key);
  const rootKeyUsable = ownsKey(root, material.root.key);
  const leaf = usableLeaf(material.leaf, root, s);

  if (leaf === undefined) {
    if (rootKeyUsable) return { type: "issue-leaf" };
    return nextUsable ? { type: "switch-root" } : { type: "create" };
  }
  if (nextUsable) {
    const dueMs = issuedMs(next) + policy.overlapMs;
    if (nowMs >= dueMs && s.nextTrusted) return { type: "switch-root" };
  } else if (!rootKeyUsable || nowMs >= renewMs(root, policy)) {
    return { type: "announce-root" };
  }
  if (rootKeyUsable && nowMs >= renewMs(leaf, policy)) return { type: "issue-leaf" };
  if (material.previous !== undefined && nowMs >= issuedMs(leaf) + policy.overlapMs) return { type: "retire-root" };
  return { type: "keep", untilMs: Math.min(...turningPoints(material, { root, leaf, next }, s)) };
}

/** Executes a plan. Apart from the generated keys it depends only on its arguments. */
export function renewMaterial(plan: Exclude<CertificatePlan["type"], "keep">, s: CertificateSituation): Material {
  const { material } = s;
  if (material === undefined || plan === "create") {
    const root = newRoot(s);
    return { root, leaf: newLeaf(root, s) };
  }
  const { root, leaf, next, previous } = material;
  const kept = { ...(next === undefined ? {} : { next }), ...(previous === undefined ? {} : { previous }) };
  switch (plan) {
    case "issue-leaf":
      return { root, leaf: newLeaf(root, s), ...kept };
    case "announce-root":
      return { ...material, next: newRoot(s) };
    case "switch-root":
      if (next === undefined) throw new TypeError("there is no next root to switch to");
      return { root: next, leaf: newLeaf(next, s), previous: root.certificate };
    case "retire-root":
      return { root, leaf, ...(next === undefined ? {} : { next }) };
    default:
      return plan satisfies never;
  }
}

/**
 * All certificates that callers must trust, as one PEM string. The order is fixed, so equal bundles are equal strings.
 */
export function trustBundle({ root, next, previous }: Material): string {
  return [root.certificate, next?.certificate, previous].filter((pem) => pem !== undefined).join("");
}

function turningPoints(
  material: Material,
  { root, leaf, next }: { root: X509Certificate; leaf: X509Certificate; next: X509Certificate | undefined },
  { policy, nowMs }: CertificateSituation,
): number[] {
  const points = [renewMs(leaf, policy), root.validToDate.getTime(), leaf.validToDate.getTime()];
  if (next === undefined) points.push(renewMs(root, policy));
  // Once it is due, only the webhook configurations are waited for, and those are watched.
  else points.push(issuedMs(next) + policy.overlapMs, nowMs + policy.overlapMs);
  if (material.previous !== undefined) points.push(issuedMs(leaf) + policy.overlapMs);
  return points.filter((point) => point > nowMs);
}

function newRoot({ nowMs, policy }: CertificateSituation): KeyPair {
  // A distinct name for every root: callers that trust two can tell which one signed.
  const commonName = `webhook-ca-${nowMs.toString(36)}`;
  return createRoot({ commonName, fromMs: nowMs - BACKDATE_MS, toMs: nowMs + policy.rootLifetimeMs });
}

function newLeaf(root: KeyPair, { nowMs, policy, hosts }: CertificateSituation): KeyPair {
  const endOfRootMs = new X509Certificate(root.certificate).validToDate.getTime();
  return issueCertificate(root, {
    commonName: hosts[0] ?? "webhook",
    usages: ["server"],
    hosts,
    fromMs: nowMs - BACKDATE_MS,
    toMs: Math.min(nowMs + policy.leafLifetimeMs, endOfRootMs),
  });
}

function usable(pem: string, nowMs: number): X509Certificate | undefined {
  const certificate = parsed(pem);
  return certificate !== undefined && nowMs < certificate.validToDate.getTime() ? certificate : undefined;
}

function usableLeaf(leaf: KeyPair, root: X509Certificate, s: CertificateSituation): X509Certificate | undefined {
  const certificate = usable(leaf.certificate, s.nowMs);
  if (certificate === undefined || !ownsKey(certificate, leaf.key) || !certificate.verify(root.publicKey))
    return undefined;
  const covers = (host: string): boolean =>
    (isIPv4(host) ? certificate.checkIP(host) : certificate.checkHost(host, { subject: "never" })) !== undefined;
  return s.hosts.every(covers) ? certificate : undefined;
}

/** An invalid certificate is not a defect: the Secret may have been edited. */
function parsed(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function ownsKey(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

const issuedMs = (certificate: X509Certificate): number => certificate.validFromDate.getTime() + BACKDATE_MS;

function renewMs(certificate: X509Certificate, { renewAt }: CertificatePolicy): number {
  const issued = issuedMs(certificate);
  return issued + renewAt * (certificate.validToDate.getTime() - issued);
}
