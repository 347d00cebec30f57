// Requests that no HTTP client would send, byte by byte: HTTP/1 as lines, HTTP/2 as frames whose headers are neither checked nor completed.
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const DEADLINE_MS = 60_000;

/** Sends these lines and returns the response: up to the length that it announces, or else until the gateway closes the connection. */
export async function sendLines(port: number, lines: readonly string[]): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.write(`${[...lines, "Connection: close", "", ""].join("\r\n")}`);
  let response = "";
  socket.on("data", (chunk) => {
    response += chunk.toString();
    // Envoy keeps the connection of a malformed request open for seconds, for a client that is still sending.
    if (isWhole(response)) socket.destroy();
  });
  await once(socket, "close", { signal: AbortSignal.timeout(DEADLINE_MS) });
  return response;
}

function isWhole(response: string): boolean {
  const end = response.indexOf("\r\n\r\n");
  const length = /^content-length: (\d+)\r$/im.exec(response.slice(0, end + 2))?.[1];
  return end >= 0 && length !== undefined && Buffer.byteLength(response) >= end + 4 + Number(length);
}

/** How a stream ended: with a response, or because the gateway reset it or the whole connection. */
export type StreamEnd =
  | { readonly type: "response"; readonly status: string; readonly text: string }
  | { readonly type: "reset" }
  | { readonly type: "connection closed" };

const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, goAway: 7 } as const;
const END_STREAM = 0x1;
const END_HEADERS = 0x4;
const ACK = 0x1;
const STREAM = 1;
/** Entries of HPACK's static table. */
const STATIC_STATUS: Readonly<Record<number, string>> = {
  8: "200",
  9: "204",
  11: "304",
  12: "400",
  13: "404",
  14: "500",
};

/** Sends one request with exactly these headers, in this order, over HTTP/2 without TLS. */
export async function sendHeaders(
  port: number,
  headers: readonly (readonly [name: string, value: string])[],
): Promise<StreamEnd> {
  const socket = connect({ port, host: "127.0.0.1" });
  try {
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    socket.write(frame(FRAME.settings, 0, 0, Buffer.alloc(0)));
    const block = Buffer.concat(headers.map(([name, value]) => literal(name, value)));
    socket.write(frame(FRAME.headers, END_STREAM | END_HEADERS, STREAM, block));
    return await readEnd(socket);
  } finally {
    socket.destroy();
  }
}

async function readEnd(socket: Socket): Promise<StreamEnd> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  deadline.addEventListener("abort", () => socket.destroy(new Error("no end of the stream within the deadline")));
  let [rest, status, text] = [Buffer.alloc(0), "", ""];
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk]);
    for (let size = frameSize(rest); rest.length >= size; size = frameSize(rest)) {
      const [type, flags, stream] = [rest[3], rest[4] ?? 0, rest.readUInt32BE(5)];
      const payload = rest.subarray(9, size);
      rest = rest.subarray(size);
      if (type === FRAME.settings && (flags & ACK) === 0) socket.write(frame(FRAME.settings, ACK, 0, Buffer.alloc(0)));
      if (type === FRAME.goAway) return { type: "connection closed" };
      if (stream !== STREAM) continue;
      if (type === FRAME.reset) return { type: "reset" };
      if (type === FRAME.headers) status = statusOf(payload);
      if (type === FRAME.data) text += payload.toString();
      if ((type === FRAME.headers || type === FRAME.data) && (flags & END_STREAM) !== 0)
        return { type: "response", status, text };
    }
  }
  return { type: "connection closed" };
}

const frameSize = (bytes: Buffer): number => (bytes.length < 9 ? Number.POSITIVE_INFINITY : 9 + bytes.readUIntBE(0, 3));

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header of HPACK that is written out and not remembered; strings of less than 127 bytes. */
function literal(name: string, value: string): Buffer {
  const text = (string: string): Buffer => Buffer.concat([Buffer.from([string.length]), Buffer.from(string)]);
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/** The status is the first header, after an update of the table's size; others than those of the static table are not told. */
function statusOf(block: Buffer): string {
  const first = block.find((byte) => (byte & 0xe0) !== 0x20) ?? 0;
  return STATIC_STATUS[first & 0x7f] ?? "other";
}
