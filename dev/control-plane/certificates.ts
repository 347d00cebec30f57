// A certificate authority for one throw-away control plane: EC P-256 keys, a root, serving and client certificates. It writes
// no files, and it is not for production: nothing can be revoked or renewed.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";
import {
  bitString,
  boolean,
  explicit,
  implicit,
  integer,
  namedBits,
  octetString,
  oid,
  sequence,
  set,
  time,
  utf8String,
} from "./der.ts";

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateRequest {
  readonly commonName: string;
  /** Kubernetes reads the organizations of a client certificate as the user's groups. */
  readonly organizations?: readonly string[];
  readonly usages: readonly ("client" | "server")[];
  /** DNS names and IPv4 addresses a serving certificate is valid for. */
  readonly hosts?: readonly string[];
}

export interface Authority {
  /** The root certificate, PEM. */
  readonly certificate: string;
  issue(request: CertificateRequest): KeyPair;
}

const ECDSA_WITH_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
const HOUR_MS = 3_600_000;
const LIFETIME_MS = 365 * 24 * HOUR_MS;
const USAGE_OID = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" } as const;
const KEY_USAGE = { digitalSignature: 0, keyCertSign: 5, crlSign: 6 } as const;

/** Makes a root key and certificate that can issue others. */
export function createAuthority(commonName: string): Authority {
  const root = generateKey();
  const name = encodeName({ commonName });
  const rootId = keyIdentifier(root.publicKey);
  const certificate = encodeCertificate({
    issuer: name,
    subject: name,
    publicKey: root.publicKey,
    signer: root.privateKey,
    extensions: [
      extension("2.5.29.19", sequence(boolean(true)), "critical"),
      extension("2.5.29.15", namedBits([KEY_USAGE.keyCertSign, KEY_USAGE.crlSign]), "critical"),
      extension("2.5.29.14", octetString(rootId)),
    ],
  });
  return {
    certificate,
    issue(request) {
      const own = generateKey();
      return {
        key: pem("PRIVATE KEY", own.privateKey.export({ type: "pkcs8", format: "der" })),
        certificate: encodeCertificate({
          issuer: name,
          subject: encodeName(request),
          publicKey: own.publicKey,
          signer: root.privateKey,
          extensions: leafExtensions(request, own.publicKey, rootId),
        }),
      };
    },
  };
}

/** A key pair for signing service account tokens, both halves PEM. */
export function createSigningKey(): { readonly publicKey: string; readonly privateKey: string } {
  const { publicKey, privateKey } = generateKey();
  return {
    publicKey: pem("PUBLIC KEY", publicKey.export({ type: "spki", format: "der" })),
    privateKey: pem("PRIVATE KEY", privateKey.export({ type: "pkcs8", format: "der" })),
  };
}

const generateKey = (): { publicKey: KeyObject; privateKey: KeyObject } =>
  generateKeyPairSync("ec", { namedCurve: "prime256v1" });

function leafExtensions(request: CertificateRequest, publicKey: KeyObject, issuerId: Buffer): Buffer[] {
  const extensions = [
    extension("2.5.29.19", sequence(), "critical"),
    extension("2.5.29.15", namedBits([KEY_USAGE.digitalSignature]), "critical"),
    extension("2.5.29.37", sequence(...request.usages.map((usage) => oid(USAGE_OID[usage])))),
    extension("2.5.29.14", octetString(keyIdentifier(publicKey))),
    extension("2.5.29.35", sequence(implicit(0, issuerId))),
  ];
  const hosts = request.hosts ?? [];
  if (hosts.length > 0) extensions.push(extension("2.5.29.17", sequence(...hosts.map(encodeHost))));
  return extensions;
}

function encodeHost(host: string): Buffer {
  return isIPv4(host) ? implicit(7, Buffer.from(host.split(".").map(Number))) : implicit(2, Buffer.from(host, "ascii"));
}

function encodeName(name: { readonly commonName: string; readonly organizations?: readonly string[] }): Buffer {
  const attribute = (type: string, value: string) => set(sequence(oid(type), utf8String(value)));
  const organizations = (name.organizations ?? []).map((value) => attribute("2.5.4.10", value));
  return sequence(...organizations, attribute("2.5.4.3", name.commonName));
}

function extension(type: string, value: Buffer, critical?: "critical"): Buffer {
  const flag = critical === undefined ? [] : [boolean(true)];
  return sequence(oid(type), ...flag, octetString(value));
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest()
    .subarray(0, 20);
}

interface CertificateContents {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
}

function encodeCertificate(contents: CertificateContents): string {
  const now = Date.now();
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    ECDSA_WITH_SHA256,
    contents.issuer,
    // An hour of slack, so that a clock that is set back a little does not refuse the certificate.
    sequence(time(new Date(now - HOUR_MS)), time(new Date(now + LIFETIME_MS))),
    contents.subject,
    contents.publicKey.export({ type: "spki", format: "der" }),
    explicit(3, sequence(...contents.extensions)),
  );
  const signature = sign("sha256", body, contents.signer);
  return pem("CERTIFICATE", sequence(body, ECDSA_WITH_SHA256, bitString(signature)));
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
