// TLS to the API server, rotation of certificates, and connections through a proxy.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { KubeConfigError, KubeConnectionError } from "../../core/errors.ts";
import {
  type Loopback,
  respondJson,
  type Script,
  startLoopback,
  unknownAuthority,
} from "../../testing/loopback-server.ts";
import { ManualClock } from "../../testing/manual-clock.ts";
import { createKubeClient } from "../kube-client.ts";
import { openTunnel, parseProxyUrl } from "./proxy-tunnel.ts";

const folder = mkdtempSync(join(tmpdir(), "transport-"));
afterAll(() => rmSync(folder, { recursive: true }));

const ask = (config: ClusterConfig): Promise<unknown> =>
  createKubeClient({ config }).request({ method: "GET", path: "/x" });
const whoAmI: Script = (request, response) => respondJson(response, 200, { peer: request.peer ?? "nobody" });
const secure = (): Promise<Loopback> => startLoopback(whoAmI, { tls: true });

test("the server is verified against the given authority", async () => {
  await using server = await secure();
  expect(await ask(server.config())).toEqual({ peer: "nobody" });
  const stranger = { type: "inline", pem: unknownAuthority() } as const;
  await expect(ask(server.config({ certificateAuthority: stranger }))).rejects.toThrow(KubeConnectionError);
  await expect(ask(server.config({ certificateAuthority: undefined }))).rejects.toThrow(KubeConnectionError);
});

test("the name in the certificate must match, and tls-server-name overrides it", async () => {
  await using server = await secure();
  expect(await ask(server.config({ tlsServerName: "api.internal" }))).toEqual({ peer: "nobody" });
  await expect(ask(server.config({ tlsServerName: "other.internal" }))).rejects.toThrow(/other\.internal/);
});

test("verification can be disabled explicitly", async () => {
  await using server = await secure();
  const config = server.config({ certificateAuthority: undefined, insecureSkipTlsVerify: true });
  expect(await ask(config)).toEqual({ peer: "nobody" });
});

test("changed client certificate files are reloaded; a mismatched pair keeps the old connections", async () => {
  await using server = await secure();
  const certificate = join(folder, "tls.crt");
  const key = join(folder, "tls.key");
  const first = server.authority.issue({ commonName: "first", usages: ["client"] });
  const second = server.authority.issue({ commonName: "second", usages: ["client"] });
  writeFileSync(certificate, first.certificate);
  writeFileSync(key, first.key);
  const clock = new ManualClock();
  const clientCertificate = {
    certificate: { type: "file", path: certificate },
    key: { type: "file", path: key },
  } as const;
  const client = createKubeClient({ clock, config: server.config({ clientCertificate }) });
  const peer = (): Promise<unknown> => client.request({ method: "GET", path: "/x" });
  expect(await peer()).toEqual({ peer: "first" });
  writeFileSync(certificate, second.certificate);
  await clock.advance(10_000);
  expect(await peer()).toEqual({ peer: "first" });
  writeFileSync(key, second.key);
  await clock.advance(10_000);
  expect(await peer()).toEqual({ peer: "second" });
  await expect.poll(() => server.sockets.size).toBe(1);
});

test("unusable certificates are a configuration error", async () => {
  await using server = await secure();
  const { certificate } = server.authority.issue({ commonName: "a", usages: ["client"] });
  const { key } = server.authority.issue({ commonName: "b", usages: ["client"] });
  const clientCertificate = {
    certificate: { type: "inline", pem: certificate },
    key: { type: "inline", pem: key },
  } as const;
  await expect(ask(server.config({ clientCertificate }))).rejects.toThrow(KubeConfigError);
});

interface Proxy extends AsyncDisposable {
  readonly url: string;
  readonly targets: string[];
}

/** A real CONNECT proxy that requires `user:p@ss`. */
async function startProxy(tls?: { readonly cert: string; readonly key: string }): Promise<Proxy> {
  const targets: string[] = [];
  const open = new Set<Socket>();
  const server: Server = tls === undefined ? createServer() : createSecureServer(tls);
  server.on("connect", (request, client: Socket) => {
    targets.push(request.url ?? "");
    const { hostname, port } = new URL(`http://${request.url}`);
    if (request.headers["proxy-authorization"] !== `Basic ${Buffer.from("user:p@ss").toString("base64")}`) {
      client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      return;
    }
    const upstream = connect(Number(port), hostname, () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => upstream.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://user:p%40ss@127.0.0.1:${port}`,
    targets,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test.each([
  { name: "TLS through the tunnel, verified end to end", tls: true },
  { name: "plain HTTP through the tunnel", tls: false },
])("a proxy: $name, one tunnel for many calls", async ({ tls }) => {
  await using server = await startLoopback(whoAmI, { tls });
  await using proxy = await startProxy();
  const client = createKubeClient({ config: server.config({ proxyUrl: proxy.url }) });
  for (let i = 0; i < 3; i++) expect(await client.request({ method: "GET", path: "/x" })).toEqual({ peer: "nobody" });
  await client.request({ method: "POST", path: "/x", body: {} });
  expect(proxy.targets).toEqual([`127.0.0.1:${server.port}`]);
});

test("the server behind a proxy is verified", async () => {
  await using server = await secure();
  await using proxy = await startProxy();
  const stranger = { type: "inline", pem: unknownAuthority() } as const;
  const config = server.config({ proxyUrl: proxy.url, certificateAuthority: stranger });
  await expect(ask(config)).rejects.toThrow(KubeConnectionError);
});

test("a proxy that rejects is named, without its password", async () => {
  await using server = await secure();
  await using proxy = await startProxy();
  const asking = ask(server.config({ proxyUrl: proxy.url.replace("p%40ss", "hunter2") }));
  await expect(asking).rejects.toThrow(/proxy http:\/\/127\.0\.0\.1:\d+: CONNECT .* returned 407/);
  await expect(asking).rejects.not.toThrow("hunter2");
});

test("a proxy behind TLS, whose certificate the cluster's authority signed", async () => {
  await using server = await secure();
  const { certificate, key } = server.authority.issue({ commonName: "p", usages: ["server"], hosts: ["127.0.0.1"] });
  await using proxy = await startProxy({ cert: certificate, key });
  expect(await ask(server.config({ proxyUrl: proxy.url }))).toEqual({ peer: "nobody" });
  expect(proxy.targets).toHaveLength(1);
});

test("an unreachable proxy", async () => {
  const tunnel = openTunnel({
    proxy: parseProxyUrl("http://127.0.0.1:1"),
    target: "api:443",
    keepAliveMs: 1000,
    ca: undefined,
  });
  await expect(tunnel).rejects.toThrow(/proxy http:\/\/127\.0\.0\.1:1: CONNECT api:443 failed: .*ECONNREFUSED/);
});

test("proxies of another protocol are rejected when the client is created", async () => {
  await using server = await secure();
  expect(() => createKubeClient({ config: server.config({ proxyUrl: "socks5://p:1080" }) })).toThrow(
    "proxy-url socks5://p:1080 is not supported",
  );
  expect(() => createKubeClient({ config: server.config({ proxyUrl: "proxy" }) })).toThrow("proxy-url is not a URL");
  expect(parseProxyUrl("https://p").port).toBe(443);
});

test("an invalid server URL is rejected when the client is created", () => {
  const config = { origin: '/k: context "x"', server: "ftp://api", authentication: { type: "none" } } as const;
  expect(() => createKubeClient({ config })).toThrow('/k: context "x": server "ftp://api" is not an http(s) URL');
});
