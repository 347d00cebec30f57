// The standard gRPC health service (grpc.health.v1), unary Check only, over plaintext HTTP/2: what the kubelet's gRPC
// probe calls.
import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";

const CHECK = "/grpc.health.v1.Health/Check";
const SERVING = 1;
const NOT_SERVING = 2;
const STATUS = { ok: "0", notFound: "5", unimplemented: "12" } as const;
const FRAME_HEADER_BYTES = 5;

export function createHealthServer(isServing: () => boolean): Http2Server {
  const server = createServer();
  server.on("stream", (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    // A client that leaves early is no error of ours; the stream is gone with it.
    stream.on("error", () => stream.close());
    stream.on("end", () => {
      if (headers[":path"] !== CHECK) finish(stream, STATUS.unimplemented);
      // Only the service as a whole is known: a request that names one has a body.
      else if (Buffer.concat(chunks).length > FRAME_HEADER_BYTES) finish(stream, STATUS.notFound);
      else finish(stream, STATUS.ok, isServing() ? SERVING : NOT_SERVING);
    });
  });
  return server;
}

function finish(stream: ServerHttp2Stream, grpcStatus: string, servingStatus?: number): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": grpcStatus }));
  // One message of two bytes: field 1, a number, and its value.
  if (servingStatus === undefined) stream.end();
  else stream.end(Buffer.from([0, 0, 0, 0, 2, 0x08, servingStatus]));
}
