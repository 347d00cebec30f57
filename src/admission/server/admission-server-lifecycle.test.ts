// The lifecycle of the webhook server on a loopback port: certificates that come late or change, ports in use, and a
// shutdown that loses no request.
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { Agent } from "node:https";
import { silentLogger, systemClock } from "@firebolt-operator/kube";
import { createAuthority, ManualClock } from "@firebolt-operator/kube/testing";
import { expect, test } from "vitest";
import { heldCertificate, serverPair, startAdmissionLoopback } from "../../../test/admission/support/loopback.ts";
import { hookOf, parseResponse, review } from "../../../test/admission/support/review-fixtures.ts";
import { engine } from "../../../test/harness/fixtures/manifests.ts";
import type { Validator } from "../validators/validator.ts";
import { silentAdmissionMetrics } from "./admission-metrics.ts";
import { createAdmissionServer } from "./admission-server.ts";

const question = () => JSON.stringify(review("validate-engine", { object: engine({ name: "e" }) }));

test("new connections get a new certificate, and open ones stay open", async () => {
  await using loopback = await startAdmissionLoopback({});
  const agent = new Agent({ ca: loopback.authority.certificate, keepAlive: true, maxSockets: 1 });
  expect((await loopback.send({ agent, body: question() })).status).toBe(200);
  const next = serverPair(loopback.authority);
  loopback.certificate.holder.set({ ...next, expiresMs: 0, fingerprint: "next" });
  const shown = await loopback.socket();
  expect(shown.getPeerX509Certificate()?.fingerprint256).toBe(new X509Certificate(next.certificate).fingerprint256);
  shown.destroy();
  const [old] = Object.values(agent.freeSockets).flat();
  expect((await loopback.send({ agent, body: question() })).status).toBe(200);
  expect(Object.values(agent.freeSockets).flat()[0]).toBe(old);
  agent.destroy();
});

test("without a certificate the server does not listen and is not ready", async () => {
  const authority = createAuthority("hooks");
  const certificate = heldCertificate();
  const allow: Validator = async () => ({ type: "allow", warnings: [] });
  const validators = {
    "mutate-instance": allow,
    "validate-instance": allow,
    "validate-engine": allow,
    "validate-engine-class": allow,
  };
  const server = createAdmissionServer({
    port: 0,
    certificate,
    validators,
    clock: systemClock,
    logger: silentLogger,
    metrics: silentAdmissionMetrics,
    overlapMs: 0,
  });
  const stop = new AbortController();
  const ended = server.run(stop.signal);
  let ready = false;
  const waiting = server.whenReady?.(stop.signal).then(() => {
    ready = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect([ready, server.port]).toEqual([false, undefined]);
  certificate.holder.set({ ...serverPair(authority), expiresMs: 0, fingerprint: "first" });
  await waiting;
  expect(server.port).toBeGreaterThan(0);
  stop.abort();
  await ended;
});

test("a port that is in use fails the server with the reason", async () => {
  await using loopback = await startAdmissionLoopback({});
  await expect(startAdmissionLoopback({}, { port: loopback.port })).rejects.toThrow("EADDRINUSE");
});

test("on shutdown requests are served for another second, connections close with their responses, and running requests finish", async () => {
  const release = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const held: Validator = async () => {
    began.resolve();
    await release.promise;
    return { type: "allow", warnings: [] };
  };
  const clock = new ManualClock();
  const loopback = await startAdmissionLoopback({ "validate-engine-class": held }, { clock, overlapMs: 1_000 });
  const inFlight = loopback.send({
    path: hookOf("validate-engine-class").path,
    body: JSON.stringify(review("validate-engine-class", { object: { metadata: {} } })),
  });
  await began.promise;
  loopback.stop.abort();
  for (const passedMs of [0, 999]) {
    await clock.advance(passedMs);
    const during = await loopback.send({ body: question() });
    expect([during.status, during.headers["connection"]]).toEqual([200, "close"]);
  }
  await clock.advance(1);
  await expect(loopback.send({ body: question() })).rejects.toThrow("ECONNREFUSED");
  release.resolve();
  expect((await inFlight).status).toBe(200);
  await loopback.ended;
});

test("idle connections do not delay the shutdown, used before or not", async () => {
  const loopback = await startAdmissionLoopback({}, { overlapMs: 0 });
  const agent = new Agent({ ca: loopback.authority.certificate, keepAlive: true });
  // A client completes a handshake before its server; a response on another connection shows that the server has this
  // one.
  const unused = await loopback.socket();
  expect((await loopback.send({ agent, body: question() })).status).toBe(200);
  const used = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
  expect(used).toHaveLength(1);
  const closed = Promise.all([unused, ...used].map((socket) => once(socket, "close")));
  const stoppedMs = performance.now();
  loopback.stop.abort();
  await Promise.all([closed, loopback.ended]);
  // Five seconds are for slow responses.
  expect(performance.now() - stoppedMs).toBeLessThan(4_000);
});

test("HTTP/2 is served when it is enabled", async () => {
  await using loopback = await startAdmissionLoopback({}, { http2: true });
  const session = connectHttp2(`https://127.0.0.1:${loopback.port}`, { ca: loopback.authority.certificate });
  const stream = session.request({
    ":method": "POST",
    ":path": hookOf("validate-engine").path,
    "content-type": "application/json",
  });
  stream.end(question());
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(stream, "end");
  expect(parseResponse(Buffer.concat(chunks).toString()).allowed).toBe(true);
  session.close();
  expect((await loopback.send({ body: question() })).status).toBe(200);
});
