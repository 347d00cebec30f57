// The gRPC server that Envoy discovers engines from: one bidirectional stream on loopback. Transport only; what is sent
// comes from engine-discovery.ts. Other requests are rejected, and nothing of them is kept.
import { once } from "node:events";
import { createServer, type Http2Session, type ServerHttp2Stream } from "node:http2";
import { type Logger, untilAborted } from "@firebolt-operator/kube";
import type { EngineDiscovery } from "./engine-discovery.ts";
import { FrameReader, frame } from "./grpc-frames.ts";
import { DISCOVERY_METHOD, decodeRequest, encodeResponse } from "./messages.ts";
import { MalformedMessage } from "./protobuf.ts";

export interface DiscoveryServerOptions {
  readonly port: number;
  readonly discovery: Pick<EngineDiscovery, "connect">;
  readonly logger: Logger;
}

export interface DiscoveryServer {
  /** The port in use, once listening. */
  readonly port: number | undefined;
  readonly whenListening: Promise<void>;
  /** Rejects when the address cannot be bound. */
  run(signal: AbortSignal): Promise<void>;
}

/** The first request of a reconnected Envoy names every engine that it has: some hundred bytes each, for 10,000. */
const MOST_REQUEST_BYTES = 4 * 1024 * 1024;
/** What Envoy has not read yet. It reads at once; a peer that does not is no Envoy. */
const MOST_UNREAD_BYTES = 16 * 1024 * 1024;
/** Envoy opens one stream; a new connection may overlap with one that is about to end. */
const MOST_STREAMS = 4;
const MOST_SESSIONS = 4;

const GRPC_STATUS = { invalidArgument: 3, unimplemented: 12 } as const;

export function createDiscoveryServer({ port, discovery, logger }: DiscoveryServerOptions): DiscoveryServer {
  const server = createServer({ settings: { maxConcurrentStreams: MOST_STREAMS } });
  const sessions = new Set<Http2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // Streams have handlers of their own; without this one the error would end the process.
    session.on("error", () => undefined);
    const [oldest] = sessions;
    if (sessions.size > MOST_SESSIONS) oldest?.destroy();
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    if (headers[":path"] === DISCOVERY_METHOD && headers[":method"] === "POST") serve(stream, discovery, logger);
    else endWith(stream, GRPC_STATUS.unimplemented, "only delta discovery is served here");
  });
  const listening = Promise.withResolvers<void>();
  return {
    get port() {
      const bound = server.address();
      return typeof bound === "object" ? bound?.port : undefined;
    },
    whenListening: listening.promise,
    async run(signal) {
      const failed = once(server, "error").then(([error]) => Promise.reject(error));
      server.listen({ host: "127.0.0.1", port }, () => listening.resolve());
      try {
        await untilAborted(failed, signal).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
      } finally {
        const closed = server.listening ? once(server, "close") : Promise.resolve();
        server.close();
        for (const session of sessions) session.destroy();
        await closed;
      }
    },
  };
}

function serve(stream: ServerHttp2Stream, discovery: Pick<EngineDiscovery, "connect">, logger: Logger): void {
  const frames = new FrameReader(MOST_REQUEST_BYTES);
  const peer = discovery.connect(
    (response) => {
      if (stream.destroyed || stream.writableEnded) return;
      if (stream.writableLength > MOST_UNREAD_BYTES) stream.destroy();
      else stream.write(frame(encodeResponse(response)));
    },
    () => stream.destroy(),
  );
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.once("close", () => peer.close());
  stream.once("end", () => stream.end());
  stream.on("data", (chunk: Buffer) => {
    try {
      for (const message of frames.read(chunk)) peer.receive(decodeRequest(message));
    } catch (error) {
      peer.close();
      if (!(error instanceof MalformedMessage)) throw error;
      logger.error("a discovery stream was closed: it does not speak the protocol", error);
      stream.destroy();
    }
  });
}

function endWith(stream: ServerHttp2Stream, status: number, message: string): void {
  const headers = {
    ":status": 200,
    "content-type": "application/grpc",
    "grpc-status": status,
    "grpc-message": message,
  };
  stream.respond(headers, { endStream: true });
}
