// A connection through an HTTP proxy: CONNECT, then the proxy only forwards bytes. The caller adds TLS to the API
// server. Proxies with another protocol are rejected when the client is created, not at the first request.
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { rootCertificates } from "node:tls";
import { KubeConfigError, KubeConnectionError } from "../../core/errors.ts";

export interface ProxyAddress {
  /** Without credentials, for messages. */
  readonly text: string;
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  readonly authorization: string | undefined;
}

const TUNNEL_TIMEOUT_MS = 30_000;

export function parseProxyUrl(text: string): ProxyAddress {
  if (!URL.canParse(text))
    throw new KubeConfigError(`proxy-url is not a URL: give it as http://host:port or https://host:port`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new KubeConfigError(
      `proxy-url ${url.protocol}//${url.host} is not supported: only http:// and https:// proxies are (for SOCKS, put an HTTP proxy in front)`,
    );
  const secure = url.protocol === "https:";
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    text: `${url.protocol}//${url.host}`,
    secure,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
    authorization: credentials === ":" ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`,
  };
}

export interface TunnelOptions {
  readonly proxy: ProxyAddress;
  /** `host:port` of the server behind the proxy. */
  readonly target: string;
  readonly keepAliveMs: number;
  /** An authority that may have signed an https proxy's certificate, besides those that Node trusts. */
  readonly ca: string | undefined;
}

export function openTunnel(options: TunnelOptions): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const { proxy, target, keepAliveMs, ca } = options;
    const fail = (problem: string, cause?: unknown): void =>
      reject(new KubeConnectionError(`proxy ${proxy.text}: ${problem}`, { cause }));
    const request = (proxy.secure ? httpsRequest : httpRequest)({
      host: proxy.host,
      port: proxy.port,
      method: "CONNECT",
      path: target,
      agent: false,
      timeout: TUNNEL_TIMEOUT_MS,
      ...(proxy.secure && ca !== undefined && { ca: [...rootCertificates, ca] }),
      headers: { host: target, ...(proxy.authorization && { "proxy-authorization": proxy.authorization }) },
    });
    const rejected = (response: IncomingMessage): void =>
      fail(`CONNECT ${target} returned ${response.statusCode} ${response.statusMessage}`);
    request.on("connect", (response, socket, head) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        rejected(response);
        return;
      }
      socket.setTimeout(0);
      socket.setKeepAlive(true, keepAliveMs);
      socket.setNoDelay(true);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.on("response", (response) => {
      response.destroy();
      rejected(response);
    });
    request.on("timeout", () => request.destroy(new Error(`no response within ${TUNNEL_TIMEOUT_MS} ms`)));
    request.on("error", (cause) => fail(`CONNECT ${target} failed: ${cause.message}`, cause));
    request.end();
  });
}
