// Certificates are verified by Node's own X.509 parser and by a TLS handshake, not by the encoder that made them.
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:tls";
import { expect, test } from "vitest";
import { createAuthority } from "./authority.ts";

test("a client certificate carries the user and its groups and is signed by the authority", () => {
  const authority = createAuthority("root");
  const issued = authority.issue({
    commonName: "mara",
    organizations: ["readers", "system:masters"],
    usages: ["client"],
  });
  const root = new X509Certificate(authority.certificate);
  const leaf = new X509Certificate(issued.certificate);
  expect(leaf.subject).toBe("O=readers\nO=system:masters\nCN=mara");
  expect(leaf.checkIssued(root)).toBe(true);
  expect(leaf.verify(root.publicKey)).toBe(true);
  expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
  expect([root.ca, leaf.ca]).toEqual([true, false]);
});

test("it is valid now and for months", () => {
  const leaf = new X509Certificate(createAuthority("root").issue({ commonName: "x", usages: ["client"] }).certificate);
  expect(leaf.validFromDate.getTime()).toBeLessThan(Date.now());
  expect(leaf.validToDate.getTime()).toBeGreaterThan(Date.now() + 180 * 24 * 3_600_000);
});

test("a serving certificate is valid for its names and addresses only", () => {
  const { certificate } = createAuthority("root").issue({
    commonName: "server",
    usages: ["server"],
    hosts: ["127.0.0.1", "localhost"],
  });
  const leaf = new X509Certificate(certificate);
  expect(leaf.checkIP("127.0.0.1")).toBe("127.0.0.1");
  expect(leaf.checkHost("localhost")).toBe("localhost");
  expect(leaf.checkIP("127.0.0.2")).toBeUndefined();
  expect(leaf.checkHost("example.org")).toBeUndefined();
});

test("both sides of a mutual TLS connection accept each other", async () => {
  const authority = createAuthority("root");
  const serving = authority.issue({ commonName: "server", usages: ["server"], hosts: ["127.0.0.1"] });
  const client = authority.issue({ commonName: "mara", usages: ["client"] });
  const ca = authority.certificate;
  const server = createServer({ ca, cert: serving.certificate, key: serving.key, requestCert: true }, (socket) =>
    socket.end(`${socket.authorized} ${socket.getPeerCertificate().subject.CN}`),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const socket = connect({ host: "127.0.0.1", port, ca, cert: client.certificate, key: client.key });
  const [greeting] = await once(socket, "data");
  expect(String(greeting)).toBe("true mara");
  server.close();
});

test("a certificate of another authority with the same name is not accepted", () => {
  const leaf = new X509Certificate(createAuthority("root").issue({ commonName: "x", usages: ["client"] }).certificate);
  const stranger = new X509Certificate(createAuthority("root").certificate);
  expect(leaf.verify(stranger.publicKey)).toBe(false);
});
