// Issues X.509 certificates: roots, and leaves for servers and clients. EC P-256 keys, everything as PEM. Stores
// nothing and reads no clock: the caller chooses the validity.
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
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

/** Start and end in milliseconds since the epoch. X.509 keeps whole seconds. */
export interface Validity {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The parameters of a root. */
export interface RootRequest extends Validity {
  readonly commonName: string;
}

/** The parameters of a leaf. */
export interface CertificateRequest extends Validity {
  readonly commonName: string;
  /** Kubernetes maps the organizations of a client certificate to the user's groups. */
  readonly organizations?: readonly string[];
  readonly usages: readonly ("client" | "server")[];
  /** DNS names and IPv4 addresses that a serving certificate is valid for. */
  readonly hosts?: readonly string[];
}

const ECDSA_WITH_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
const USAGE_OID = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" } as const;
const KEY_USAGE = { digitalSignature: 0, keyCertSign: 5, crlSign: 6 } as const;

/** A self-signed root that may issue leaves but no intermediates. */
export function createRoot(request: RootRequest): KeyPair {
  const own = generateKey();
  const name = encodeName(request);
  return {
    key: privateKeyPem(own.privateKey),
    certificate: encodeCertificate({
      issuer: name,
      subject: name,
      validity: request,
      publicKey: own.publicKey,
      signer: own.privateKey,
      extensions: [
        extension("2.5.29.19", sequence(boolean(true), integer(Buffer.from([0]))), "critical"),
        extension("2.5.29.15", namedBits([KEY_USAGE.keyCertSign, KEY_USAGE.crlSign]), "critical"),
        extension("2.5.29.14", octetString(keyIdentifier(own.publicKey))),
      ],
    }),
  };
}

/** A new key and its certificate, signed by a root of {@link createRoot}. */
export function issueCertificate(root: KeyPair, request: CertificateRequest): KeyPair {
  const own = generateKey();
  const issuer = new X509Certificate(root.certificate);
  return {
    key: privateKeyPem(own.privateKey),
    certificate: encodeCertificate({
      issuer: encodeName({ commonName: commonNameOf(issuer) }),
      subject: encodeName(request),
      validity: request,
      publicKey: own.publicKey,
      signer: createPrivateKey(root.key),
      extensions: leafExtensions(request, own.publicKey, keyIdentifier(issuer.publicKey)),
    }),
  };
}

/** A key pair for signing, both as PEM. */
export function createSigningKey(): { readonly publicKey: string; readonly privateKey: string } {
  const { publicKey, privateKey } = generateKey();
  return {
    publicKey: pem("PUBLIC KEY", publicKey.export({ type: "spki", format: "der" })),
    privateKey: privateKeyPem(privateKey),
  };
}

const generateKey = (): { publicKey: KeyObject; privateKey: KeyObject } =>
  generateKeyPairSync("ec", { namedCurve: "prime256v1" });

const privateKeyPem = (key: KeyObject): string => pem("PRIVATE KEY", key.export({ type: "pkcs8", format: "der" }));

/** Roots created here have only a common name, so their name can be rebuilt from it. */
function commonNameOf(root: X509Certificate): string {
  const match = /^CN=([^\n]+)$/.exec(root.subject);
  if (match?.[1] === undefined) throw new TypeError(`unsupported subject of a root: ${JSON.stringify(root.subject)}`);
  return match[1];
}

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
  readonly validity: Validity;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
}

function encodeCertificate({ validity, ...contents }: CertificateContents): string {
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    ECDSA_WITH_SHA256,
    contents.issuer,
    sequence(time(new Date(validity.fromMs)), time(new Date(validity.toMs))),
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
