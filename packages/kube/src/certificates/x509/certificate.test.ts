// Certificates are verified by Node's own X.509 parser, not by the encoder that made them.
// src/testing/authority.test.ts uses them in handshakes.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { createRoot, issueCertificate } from "./certificate.ts";

const DAY_MS = 24 * 3_600_000;
const FROM = Date.UTC(2026, 0, 1);
const root = createRoot({ commonName: "root", fromMs: FROM, toMs: FROM + 3650 * DAY_MS });

test("a root is a CA with exactly the requested validity", () => {
  const certificate = new X509Certificate(root.certificate);
  expect(certificate.ca).toBe(true);
  expect(certificate.subject).toBe("CN=root");
  expect(certificate.validFromDate.getTime()).toBe(FROM);
  expect(certificate.validToDate.getTime()).toBe(FROM + 3650 * DAY_MS);
  expect(certificate.checkPrivateKey(createPrivateKey(root.key))).toBe(true);
});

test("a leaf is issued from the PEM strings of the root alone", () => {
  const validity = { fromMs: FROM + DAY_MS, toMs: FROM + 366 * DAY_MS };
  const stored = { certificate: `${root.certificate}`, key: `${root.key}` };
  const leaf = issueCertificate(stored, {
    commonName: "leaf",
    usages: ["server"],
    hosts: ["a.b.svc", "127.0.0.1"],
    ...validity,
  });
  const certificate = new X509Certificate(leaf.certificate);
  const issuer = new X509Certificate(root.certificate);
  expect(certificate.checkIssued(issuer)).toBe(true);
  expect(certificate.verify(issuer.publicKey)).toBe(true);
  expect(certificate.subjectAltName).toBe("DNS:a.b.svc, IP Address:127.0.0.1");
  expect(certificate.validFromDate.getTime()).toBe(validity.fromMs);
  expect(certificate.validToDate.getTime()).toBe(validity.toMs);
});

test("two certificates never share a serial number or a key", () => {
  const request = { commonName: "x", usages: ["client"], fromMs: FROM, toMs: FROM + DAY_MS } as const;
  const [one, two] = [issueCertificate(root, request), issueCertificate(root, request)];
  expect(new X509Certificate(one.certificate).serialNumber).not.toBe(new X509Certificate(two.certificate).serialNumber);
  expect(one.key).not.toBe(two.key);
});

test("a root whose subject is not only a common name issues nothing", () => {
  const other = issueCertificate(root, {
    commonName: "x",
    organizations: ["o"],
    usages: ["client"],
    fromMs: FROM,
    toMs: FROM + DAY_MS,
  });
  expect(() =>
    issueCertificate(other, { commonName: "y", usages: ["client"], fromMs: FROM, toMs: FROM + DAY_MS }),
  ).toThrow(TypeError);
});
