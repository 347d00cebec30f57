// The agent's two HTTP servers: one for the gateway in the same pod, one for the demand. Transport only; decisions come
// from hold/admission.ts.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type Logger, untilAborted } from "@firebolt-operator/kube";
import { keepIdleConnections } from "@firebolt-operator/kube/serving";
import { ENGINE_PARAMETER, WAKE_HEADERS, WAKE_PATHS } from "../api/wake-protocol.ts";
import type { HoldAdmission, HoldResponse } from "./hold/admission.ts";
import { limitPeers, type PeerLimits } from "./peer-limits.ts";

const SHUTDOWN_MS = 5_000;
/**
 * A few API servers, operators and Prometheus servers with a few connections each, and a response of at most one
 * megabyte.
 */
const DEMAND_PEERS: PeerLimits = { mostConnections: 32, responseMs: 5_000 };

export interface AgentServer {
  /** The port in use, once listening. */
  readonly port: number | undefined;
  readonly whenListening: Promise<void>;
  /** Rejects when the address cannot be bound. */
  run(signal: AbortSignal): Promise<void>;
}

export interface HoldServerOptions {
  readonly port: number;
  readonly admission: Pick<HoldAdmission, "check" | "hold">;
  readonly epoch: () => number;
  /** Whether queries for the engine may be sent to a cluster of its own; otherwise Envoy resolves its name. */
  readonly publish: (engine: string) => Promise<boolean>;
  readonly logger: Logger;
}

/** `GET /check?engine=` and `GET /hold?engine=`, on loopback. */
export function createHoldServer({ port, admission, epoch, publish, logger }: HoldServerOptions): AgentServer {
  return createAgentServer({ host: "127.0.0.1", port }, (request, response) => {
    const { path, engine } = targetOf(request);
    const send = async (outcome: HoldResponse): Promise<void> => {
      // Before Envoy is waited for: a change meanwhile makes what it accepts outdated, and the gateway must notice.
      const view = epoch();
      const isPublished = outcome.status === 200 && (await publish(engine));
      sendHoldResponse(response, outcome, { epoch: view, ...(isPublished ? { cluster: engine } : {}) });
    };
    const fail = (error: unknown): void => {
      logger.error("a query could not be checked", error, { engine });
      // Without a decision the gateway lets the request pass.
      sendText(response, 500, "the query could not be checked\n");
    };
    switch (path) {
      case WAKE_PATHS.check:
        admission.check(engine).then(send, fail);
        return;
      case WAKE_PATHS.hold: {
        const disconnected = new AbortController();
        // Also fires after a response, when nothing waits any more.
        response.once("close", () => disconnected.abort());
        admission.hold(engine, disconnected.signal).then(send, fail);
        return;
      }
      default:
        sendHealth(response, path);
    }
  });
}

/** Responses in the Prometheus text format, by path. */
export type Responses = Readonly<Record<string, () => string>>;

/** `GET /demand` and `GET /discovery`, on all addresses. */
export function createDemandServer(port: number, responses: Responses, peers = DEMAND_PEERS): AgentServer {
  return createAgentServer({ port, peers }, (request, response) => {
    const { path } = targetOf(request);
    const render = Object.hasOwn(responses, path) ? responses[path] : undefined;
    if (render === undefined) sendHealth(response, path);
    else sendText(response, 200, render(), "text/plain; version=0.0.4; charset=utf-8");
  });
}

function createAgentServer(
  { peers, ...address }: { readonly host?: string; readonly port: number; readonly peers?: PeerLimits },
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): AgentServer {
  const server = createServer(keepIdleConnections(), (request, response) => {
    if (request.method === "GET" || request.method === "HEAD") handle(request, response);
    else sendText(response, 405, "only GET\n");
  });
  if (peers !== undefined) limitPeers(server, peers);
  const listening = Promise.withResolvers<void>();
  return {
    get port() {
      const bound = server.address();
      return typeof bound === "object" ? bound?.port : undefined;
    },
    whenListening: listening.promise,
    async run(signal) {
      const failed = once(server, "error").then(([error]) => Promise.reject(error));
      server.listen(address, () => listening.resolve());
      try {
        await untilAborted(failed, signal).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
      } finally {
        await close(server);
      }
    },
  };
}

const ENGINE_OF = new RegExp(`(?:^|&)${ENGINE_PARAMETER}=([^&]*)`);

/** The path and the engine as given: names of engines need no decoding. */
function targetOf({ url = "/" }: IncomingMessage): { readonly path: string; readonly engine: string } {
  const mark = url.indexOf("?");
  if (mark < 0) return { path: url, engine: "" };
  const parameter = ENGINE_OF.exec(url.slice(mark + 1));
  return { path: url.slice(0, mark), engine: parameter?.[1] ?? "" };
}

function sendHoldResponse(
  response: ServerResponse,
  { status, decision }: HoldResponse,
  { epoch, cluster }: { readonly epoch: number; readonly cluster?: string },
): void {
  const body = `${decision}\n`;
  response.writeHead(status, {
    [WAKE_HEADERS.decision]: decision,
    [WAKE_HEADERS.epoch]: String(epoch),
    "content-length": String(body.length),
    ...(cluster === undefined ? {} : { [WAKE_HEADERS.cluster]: cluster }),
  });
  response.end(body);
}

function sendHealth(response: ServerResponse, path: string): void {
  if (path === WAKE_PATHS.health) sendText(response, 200, "ok\n");
  else sendText(response, 404, "not found\n");
}

function sendText(response: ServerResponse, status: number, body: string, type = "text/plain"): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

function close(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), SHUTDOWN_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
