// The connections to one API server: keep-alive agents for calls and separate ones for watches, replaced when
// certificates rotate. Knows nothing of requests beyond giving them a socket.
import { Agent as HttpAgent } from "node:http";
import { type AgentOptions, Agent as HttpsAgent } from "node:https";
import { type Duplex, PassThrough } from "node:stream";
import { type ConnectionOptions, createSecureContext, connect as tlsConnect } from "node:tls";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import type { TlsMaterial } from "../../config/tls-material.ts";
import { KubeConfigError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { openTunnel, type ProxyAddress, parseProxyUrl } from "./proxy-tunnel.ts";

export interface ServerAddress {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** `host:port`, for the Host header and for metrics. */
  readonly authority: string;
  /** Path prefix of the API; empty at the root. */
  readonly basePath: string;
}

export interface AgentPair {
  readonly calls: HttpAgent;
  /** Watches hold their socket for minutes: in a shared, bounded pool they would starve the calls. */
  readonly watches: HttpAgent;
}

type OnSocket = (error: Error | null, socket: Duplex) => void;

/** Below the idle timeouts of the API server (90 s) and of common load balancers, so that this side closes first. */
const IDLE_SOCKET_MS = 30_000;
const TCP_KEEP_ALIVE_MS = 15_000;
const MOST_IDLE_SOCKETS = 32;

export function parseServer(config: ClusterConfig): ServerAddress {
  const text = config.server.includes("://") ? config.server : `https://${config.server}`;
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new KubeConfigError(`${config.origin}: server "${config.server}" is not an http(s) URL`);
  const url = new URL(text);
  const secure = url.protocol === "https:";
  return {
    secure,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
    authority: url.host,
    basePath: url.pathname.replace(/\/+$/, ""),
  };
}

export class TransportAgents {
  readonly #config: ClusterConfig;
  readonly #server: ServerAddress;
  readonly #proxy: ProxyAddress | undefined;
  readonly #logger: Logger;
  readonly #maxSockets: number;
  #material: TlsMaterial | undefined;
  #pair: AgentPair | undefined;

  constructor(options: {
    readonly config: ClusterConfig;
    readonly server: ServerAddress;
    readonly logger: Logger;
    readonly maxSockets: number;
  }) {
    this.#config = options.config;
    this.#server = options.server;
    this.#logger = options.logger;
    this.#maxSockets = options.maxSockets;
    this.#proxy = options.config.proxyUrl === undefined ? undefined : parseProxyUrl(options.config.proxyUrl);
  }

  /** The agents for this material. New material retires the present connections as soon as they are idle. */
  for(material: TlsMaterial): AgentPair {
    if (this.#pair !== undefined && material === this.#material) return this.#pair;
    this.#material = material;
    const next = this.#create(material);
    if (this.#pair !== undefined && next !== this.#pair) retire(this.#pair);
    this.#pair = next;
    return next;
  }

  /** Closes idle connections, e.g. because the server turned out to be unavailable. */
  dropIdle(): void {
    if (this.#pair !== undefined) for (const agent of [this.#pair.calls, this.#pair.watches]) closeIdle(agent);
  }

  close(): void {
    if (this.#pair !== undefined) retire(this.#pair);
  }

  #create(material: TlsMaterial): AgentPair {
    if (!this.#server.secure) {
      const agent = (maxSockets: number): HttpAgent => this.#direct(new HttpAgent(keepAlive(maxSockets)), { material });
      return { calls: agent(this.#maxSockets), watches: agent(Number.POSITIVE_INFINITY) };
    }
    let tls: ConnectionOptions;
    try {
      tls = this.#tlsOptions(material);
    } catch (cause) {
      // A certificate and its key are two files: during a rotation they may briefly not match.
      if (this.#pair === undefined)
        throw new KubeConfigError(
          `${this.#config.origin}: the certificates are unusable: ${cause instanceof Error ? cause.message : cause}`,
          { cause },
        );
      this.#logger.error("new certificates are unusable, keeping the connections made with the old ones", cause);
      return this.#pair;
    }
    const agent = (maxSockets: number): HttpAgent =>
      this.#direct(new HttpsAgent({ ...keepAlive(maxSockets), ...tls }), { material, tls });
    return { calls: agent(this.#maxSockets), watches: agent(Number.POSITIVE_INFINITY) };
  }

  #tlsOptions(material: TlsMaterial): ConnectionOptions {
    const { tlsServerName, insecureSkipTlsVerify } = this.#config;
    return {
      // Parsed once for all connections, and kept out of the agent's per-request bookkeeping.
      secureContext: createSecureContext({
        ...(material.ca !== undefined && { ca: material.ca }),
        ...(material.cert !== undefined && { cert: material.cert }),
        ...(material.key !== undefined && { key: material.key }),
      }),
      ...(tlsServerName !== undefined && { servername: tlsServerName }),
      ...(insecureSkipTlsVerify && { rejectUnauthorized: false }),
    };
  }

  /** One agent serves one server: a fixed name avoids deriving one from all TLS options for every request. */
  #direct(
    agent: HttpAgent,
    { material, tls }: { readonly material: TlsMaterial; readonly tls?: ConnectionOptions },
  ): HttpAgent {
    agent.getName = () => "api";
    const proxy = this.#proxy;
    if (proxy === undefined) return agent;
    const { host, port } = this.#server;
    const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    agent.createConnection = (_options: unknown, onSocket?: OnSocket): undefined => {
      openTunnel({ proxy, target, keepAliveMs: TCP_KEEP_ALIVE_MS, ca: material.ca }).then(
        (socket) => onSocket?.(null, tls === undefined ? socket : tlsConnect({ ...tls, socket, host })),
        // The type requires a stream even beside an error; the agent ignores it.
        (error: Error) => onSocket?.(error, new PassThrough().destroy()),
      );
      return undefined;
    };
    return agent;
  }
}

/** TCP keep-alive from the first byte; Node's agents disable Nagle's algorithm by default. */
function keepAlive(maxSockets: number): AgentOptions {
  return {
    keepAlive: true,
    keepAliveMsecs: TCP_KEEP_ALIVE_MS,
    // The most recently used socket is the least likely to have been closed by the other side.
    scheduling: "lifo",
    maxSockets,
    maxFreeSockets: Math.min(maxSockets, MOST_IDLE_SOCKETS),
    timeout: IDLE_SOCKET_MS,
  };
}

/** Lets requests in flight finish, and keeps no socket after them. */
function retire(pair: AgentPair): void {
  for (const agent of [pair.calls, pair.watches]) {
    agent.maxFreeSockets = 0;
    closeIdle(agent);
  }
}

function closeIdle(agent: HttpAgent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of [...(sockets ?? [])]) socket.destroy();
}
