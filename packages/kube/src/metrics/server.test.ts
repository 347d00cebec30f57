// The secure metrics server over real TLS connections on loopback. Token reviews are tested in access-review.test.ts
// and, with a real API server, in the integration tests.
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import { connect as connectTls } from "node:tls";
import { Counter, Registry } from "prom-client";
import { afterEach, expect, test } from "vitest";
import { createSelfSignedCertificate } from "../certificates/self-signed.ts";
import { type CertificateSource, inspectPair, PairHolder } from "../certificates/serving-certificate.ts";
import { createRoot } from "../certificates/x509/certificate.ts";
import { systemClock } from "../core/clock.ts";
import { silentLogger } from "../core/logger.ts";
import type { AccessReview } from "../serving/access-review.ts";
import { createMetricsServer, type MetricsServer } from "./server.ts";

const verdicts: AccessReview = {
  async check(token) {
    if (token === "good") return "allowed";
    if (token === "poor") return "denied";
    if (token === "broken") throw new Error("no response");
    return "unauthenticated";
  },
};
const selfSigned = () =>
  createSelfSignedCertificate({ hosts: ["localhost"], clock: systemClock, logger: silentLogger });

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function start(certificate: CertificateSource = selfSigned(), http2 = false): Promise<MetricsServer> {
  const registry = new Registry();
  new Counter({ registers: [registry], name: "things_total", help: "Things." }).inc();
  const secure = { certificate, access: verdicts, http2 };
  const server = createMetricsServer({ registry, logger: silentLogger, host: "127.0.0.1", port: 0, secure });
  const stop = new AbortController();
  const running = server.run(stop.signal);
  stops.push(async () => {
    stop.abort();
    await running;
  });
  await Promise.race([server.whenReady?.(stop.signal), running]);
  return server;
}

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

function get({ port }: MetricsServer, options: { authorization?: string; path?: string; method?: string } = {}) {
  const { authorization, path = "/metrics", method = "GET" } = options;
  const headers = authorization === undefined ? {} : { authorization };
  return new Promise<Answer>((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", path, method, headers, rejectUnauthorized: false, agent: false });
    sent.on("error", reject).on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode, text, headers: response.headers }));
    });
    sent.end();
  });
}

test.each([
  { name: "no token", authorization: undefined, status: 401 },
  { name: "another scheme", authorization: "Basic Z29vZA==", status: 401 },
  { name: "an empty token", authorization: "Bearer ", status: 401 },
  { name: "an unknown token", authorization: "Bearer whose", status: 401 },
  { name: "a token without permission", authorization: "Bearer poor", status: 403 },
  { name: "a review that fails", authorization: "Bearer broken", status: 500 },
  { name: "a token with permission", authorization: "Bearer good", status: 200 },
  { name: "the scheme in lower case", authorization: "bearer good", status: 200 },
])("$name: $status", async ({ authorization, status }) => {
  const response = await get(await start(), authorization === undefined ? {} : { authorization });
  expect(response.status).toBe(status);
  expect(response.text.includes("things_total 1")).toBe(status === 200);
  expect("www-authenticate" in response.headers).toBe(status === 401);
});

test("only GET and HEAD, and only /metrics", async () => {
  const server = await start();
  const authorization = "Bearer good";
  expect((await get(server, { authorization, path: "/" })).status).toBe(404);
  expect((await get(server, { authorization, path: "/metrics?x=1" })).status).toBe(200);
  expect((await get(server, { authorization, method: "POST" })).status).toBe(405);
  const head = await get(server, { authorization, method: "HEAD" });
  expect([head.status, head.text]).toEqual([200, ""]);
  expect((await get(server, { method: "HEAD" })).status).toBe(401);
});

/** The TLS version and the application protocol that a handshake negotiates, or its error. */
function handshake({ port }: MetricsServer, options: { alpn?: string[]; maxVersion?: "TLSv1.1" | "TLSv1.2" } = {}) {
  const { alpn = [], maxVersion } = options;
  return new Promise<string>((resolve) => {
    const versions =
      maxVersion === undefined ? {} : { minVersion: maxVersion, maxVersion, ciphers: "DEFAULT@SECLEVEL=0" };
    const socket = connectTls({
      port: port ?? 0,
      host: "127.0.0.1",
      rejectUnauthorized: false,
      ALPNProtocols: alpn,
      ...versions,
    });
    socket.on("secureConnect", () => {
      resolve(`${socket.getProtocol()} ${socket.alpnProtocol} ${socket.getPeerCertificate().subject.CN}`);
      socket.destroy();
    });
    socket.on("error", (error) => resolve(`refused: ${error.message}`));
  });
}

test("TLS 1.2 and newer; HTTP/2 only if enabled", async () => {
  const server = await start();
  expect(await handshake(server)).toMatch(/^TLSv1\.3 /);
  expect(await handshake(server, { maxVersion: "TLSv1.2" })).toMatch(/^TLSv1\.2 /);
  expect(await handshake(server, { maxVersion: "TLSv1.1" })).toMatch(/^refused/);
  expect(await handshake(server, { alpn: ["h2", "http/1.1"] })).toContain(" http/1.1 ");
  const modern = await start(selfSigned(), true);
  expect(await handshake(modern, { alpn: ["h2", "http/1.1"] })).toContain(" h2 ");
  expect((await get(modern, { authorization: "Bearer good" })).status).toBe(200);
});

test("HTTP/2 requests need a token too", async () => {
  const { port } = await start(selfSigned(), true);
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  const statusOf = (headers: object) =>
    new Promise<unknown>((resolve, reject) => {
      const stream = session.request({ ":path": "/metrics", ...headers });
      stream.on("response", (response) => resolve(response[":status"])).on("error", reject);
      stream.resume();
      stream.end();
    });
  expect(await statusOf({})).toBe(401);
  expect(await statusOf({ authorization: "Bearer good" })).toBe(200);
  session.close();
});

test("new connections get a new certificate", async () => {
  const holder = new PairHolder();
  const made = (commonName: string) =>
    inspectPair(createRoot({ commonName, fromMs: Date.now() - 1_000, toMs: Date.now() + 3_600_000 }));
  const source: CertificateSource = {
    run: (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })),
    get current() {
      return holder.current;
    },
    whenLoaded: (signal) => holder.whenLoaded(signal),
    onPair: (listener) => holder.onPair(listener),
  };
  holder.set(made("first"));
  const server = await start(source);
  expect(await handshake(server)).toContain(" first");
  holder.set(made("second"));
  expect(await handshake(server)).toContain(" second");
});

test("the server fails without a certificate", async () => {
  const source = selfSigned();
  const server = start({ ...source, current: undefined, run: () => Promise.reject(new Error("no certificate")) });
  await expect(server).rejects.toThrow("no certificate");
  await expect(stops.pop()?.()).rejects.toThrow("no certificate");
});
