// Uploads to an engine that does not read fill a gateway's memory, and so could uploads to the port of the statistics.
// The gateway rejects new requests before the kernel would kill it, and resets requests that grow, so that running
// queries continue.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import { type RecordingEngine, startRecordingEngine } from "./support/fake-recording-engine.ts";
import { type GatewayHarness, openGatewayHarness } from "./support/gateway-harness.ts";

const MEBIBYTE = 1024 ** 2;
const LIMIT_BYTES = 256 * MEBIBYTE;
/** Without a ceiling they take twice the limit: four MiB each. */
const UPLOADS = 128;
const UPLOAD_BYTES = 32 * MEBIBYTE;

/** What the kernel would hold against the limit: memory that is not a file's. */
function ownBytes(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}

interface Upload {
  readonly socket: Socket;
  /** The gateway's response, if any. */
  received(): string;
}

/** Begins a request, and is ended by the gateway or by the test; both are no error. */
async function begin(port: number, head: string): Promise<Upload> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => socket.destroy());
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  await once(socket, "connect");
  socket.write(`${head} HTTP/1.1\r\nHost: x\r\nX-Firebolt-Engine: deaf\r\nContent-Length: ${UPLOAD_BYTES}\r\n\r\nx`);
  return { socket, received: () => received };
}

const isOver = ({ socket, received }: Upload): boolean => received() !== "" || socket.destroyed;

/** More than the gateway takes of one request. */
const grow = ({ socket }: Upload): boolean => socket.write(Buffer.alloc(8 * MEBIBYTE, "x"));

/** Writes as much as the gateway takes. */
async function upload(port: number): Promise<Upload> {
  const one = await begin(port, "POST /");
  grow(one);
  return one;
}

/** The peak memory of a gateway, from now until the call. */
function watchMemory({ envoy }: GatewayHarness): { mostBytes(): number; [Symbol.dispose](): void } {
  let most = 0;
  const look = (): void => {
    most = Math.max(most, ownBytes(envoy.process.pid));
  };
  const timer = setInterval(look, 20);
  return {
    mostBytes: () => {
      look();
      return most;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Whether two looks one after the other found the same number of bytes: the gateway takes no more. */
async function takesNoMore(harness: GatewayHarness): Promise<void> {
  let before = -1;
  await eventually(async () => {
    const now = await harness.envoy.statistic("http.gateway.downstream_cx_rx_bytes_total");
    const same = now === before;
    before = now;
    return same;
  });
}

test("a gateway with a memory limit stays below it, and serves again once the uploads have ended", async () => {
  await using harness = await openGatewayHarness({ memoryLimitBytes: LIMIT_BYTES });
  await using deaf = await startRecordingEngine(harness.nextAddress(), { answers: "never" });
  harness.publish("deaf", [deaf]);
  harness.publish("e1", [await harness.startEngine({ engine: "e1" })]);
  await harness.client.query({ engine: "e1" });
  const running = Promise.allSettled([harness.client.query({ engine: "e1", sql: "SELECT sleep(15000)" })]);
  using memory = watchMemory(harness);
  const uploads: Upload[] = [];
  try {
    // Sequentially, as stuck uploads accumulate: each has sent what the gateway accepts, or is rejected, before the
    // next starts.
    const taken = (): Promise<number> => harness.envoy.statistic("http.gateway.downstream_cx_rx_bytes_total");
    for (let sent = 0; sent < UPLOADS; sent++) {
      const before = await taken();
      const one = await upload(harness.clientPort);
      uploads.push(one);
      await eventually(async () => isOver(one) || (await taken()) - before > 3 * MEBIBYTE);
    }
    expect(uploads.filter(({ received }) => received().startsWith("HTTP/1.1 503 "))).not.toEqual([]);
    const { status, text } = await harness.client.send({ engine: "e1" });
    expect({ status, text }).toEqual({ status: 503, text: "envoy overloaded" });
    await harness.envoy.logged(/ 503 flags=- details=overload .*engine=e1$/);
    expect((await fetch(`http://127.0.0.1:${harness.metricsPort}/healthz`)).status).toBe(200);
  } finally {
    for (const { socket } of uploads) socket.destroy();
  }
  expect(memory.mostBytes()).toBeLessThan(LIMIT_BYTES);
  // A query that was running all the time was not touched.
  expect(await running).toMatchObject([{ status: "fulfilled", value: { value: 15_000 } }]);
  await eventually(async () => (await harness.client.send({ engine: "e1" })).status === 200);
  expect(harness.envoy.process.ending()).toBeUndefined();
  console.log(`gateway-memory: at most ${Math.round(memory.mostBytes() / MEBIBYTE)} MiB of ${LIMIT_BYTES / MEBIBYTE}`);
});

/** A gateway with an engine that reads nothing, one that serves, and a query that runs on it all the time. */
async function openCrowdedGateway() {
  const harness = await openGatewayHarness({ memoryLimitBytes: LIMIT_BYTES });
  const deaf = await startRecordingEngine(harness.nextAddress(), { answers: "never" });
  harness.publish("deaf", [deaf]);
  harness.publish("e1", [await harness.startEngine({ engine: "e1" })]);
  await harness.client.query({ engine: "e1" });
  const running = Promise.allSettled([harness.client.query({ engine: "e1", sql: "SELECT sleep(15000)" })]);
  return {
    harness,
    deaf,
    running,
    async [Symbol.asyncDispose]() {
      await deaf[Symbol.asyncDispose]();
      await harness[Symbol.asyncDispose]();
    },
  };
}

const accepted = async ({ envoy }: GatewayHarness, requests: number): Promise<boolean> =>
  (await envoy.statistic("http.gateway.downstream_rq_active")) >= requests;

/**
 * So many at the same time, each of which has reached the engine. One whose connection takes too long on a busy machine
 * is rejected and replaced by another.
 */
async function beginTogether(
  harness: GatewayHarness,
  deaf: RecordingEngine,
  count: number,
): Promise<readonly Upload[]> {
  const uploads = new Map<string, Upload>();
  let begun = 0;
  const beginOne = async (): Promise<void> => {
    const path = `/upload-${begun++}`;
    uploads.set(path, await begin(harness.clientPort, `POST ${path}`));
  };
  await eventually(
    async () => {
      for (const [path, one] of uploads) if (isOver(one)) uploads.delete(path);
      await Promise.all(Array.from({ length: count - uploads.size }, beginOne));
      const reached = new Set(deaf.requests.map(({ path }) => path));
      return [...uploads.keys()].every((path) => reached.has(path));
    },
    { timeoutMs: 90_000, describe: `${count} requests that have reached the engine` },
  );
  return [...uploads.values()];
}

test("requests that were accepted small and then grow together are ended below the limit, and no query that runs", async () => {
  await using crowd = await openCrowdedGateway();
  const { harness, deaf, running } = crowd;
  const uploads = await beginTogether(harness, deaf, UPLOADS);
  try {
    using memory = watchMemory(harness);
    for (const one of uploads) grow(one);
    await eventually(() => uploads.some(isOver), { timeoutMs: 90_000, describe: "a request that is ended" });
    await takesNoMore(harness);
    expect(memory.mostBytes()).toBeLessThan(LIMIT_BYTES);
    await harness.envoy.logged(/ 503 flags=\S+ details=overload .*engine=deaf$/);
    // Served or rejected, but not left waiting.
    expect([200, 503]).toContain((await harness.client.send({ engine: "e1" })).status);
    expect((await fetch(`http://127.0.0.1:${harness.metricsPort}/healthz`)).status).toBe(200);
  } finally {
    for (const { socket } of uploads) socket.destroy();
  }
  expect(await running).toMatchObject([{ status: "fulfilled", value: { value: 15_000 } }]);
  await eventually(async () => (await harness.client.send({ engine: "e1" })).status === 200);
});

test("the same with the streams of HTTP/2", async () => {
  await using crowd = await openCrowdedGateway();
  const { harness, running } = crowd;
  const sessions = Array.from({ length: 20 }, () => connectHttp2(`http://127.0.0.1:${harness.clientPort}`));
  for (const session of sessions) session.on("error", () => session.destroy());
  let ended = 0;
  const streams = sessions.flatMap((session) =>
    Array.from({ length: 4 }, () => {
      const stream = session.request(
        { ":method": "POST", ":path": "/", "x-firebolt-engine": "deaf" },
        { endStream: false },
      );
      stream.on("error", () => stream.destroy());
      stream.on("close", () => ended++);
      stream.write("x");
      return stream;
    }),
  );
  try {
    await eventually(() => accepted(harness, streams.length - ended), {
      timeoutMs: 90_000,
      describe: "streams that are accepted at the same time",
    });
    using memory = watchMemory(harness);
    const refused = ended;
    for (const stream of streams) stream.write(Buffer.alloc(UPLOAD_BYTES, "x"));
    await eventually(() => ended > refused, { timeoutMs: 90_000, describe: "a stream that is ended" });
    await takesNoMore(harness);
    expect(memory.mostBytes()).toBeLessThan(LIMIT_BYTES);
    expect([200, 503]).toContain((await harness.client.send({ engine: "e1" })).status);
  } finally {
    for (const session of sessions) session.destroy();
  }
  expect(await running).toMatchObject([{ status: "fulfilled", value: { value: 15_000 } }]);
});

test("the port of the statistics takes no uploads and a bounded number of connections, and serves probes", async () => {
  await using harness = await openGatewayHarness({ memoryLimitBytes: LIMIT_BYTES });
  harness.publish("e1", [await harness.startEngine({ engine: "e1" })]);
  const statistics = `http://127.0.0.1:${harness.metricsPort}/stats/prometheus`;
  for (const [method, status] of [
    ["GET", 200],
    ["HEAD", 200],
    ["POST", 405],
    ["DELETE", 405],
  ] as const)
    expect({ method, status: (await fetch(statistics, { method })).status }).toEqual({ method, status });
  using memory = watchMemory(harness);
  const uploads: Upload[] = [];
  for (const head of ["POST /stats/prometheus", "GET /stats/prometheus"])
    for (let sent = 0; sent < UPLOADS; sent++) uploads.push(await begin(harness.metricsPort, head));
  for (const one of uploads) grow(one);
  await eventually(() => uploads.every(isOver));
  // A client that is still writing may lose the response with its connection; one that the machine makes slow gets 408.
  const statuses = new Set(uploads.map(({ received }) => received().slice(0, 12)));
  expect([...statuses].filter((one) => !["HTTP/1.1 405", "HTTP/1.1 408", "HTTP/1.1 413", ""].includes(one))).toEqual(
    [],
  );
  expect(memory.mostBytes()).toBeLessThan(LIMIT_BYTES / 2);
  expect((await harness.client.send({ engine: "e1" })).status).toBe(200);
  for (const { socket } of uploads) socket.destroy();
  // Connections that send nothing: some are closed at once, the others soon, so that probes find room.
  const idle = Array.from({ length: 300 }, () => {
    const socket = connect({ port: harness.metricsPort, host: "127.0.0.1" });
    socket.write("GET /hea");
    return socket
      .on("error", () => socket.destroy())
      .on("end", () => socket.destroy())
      .resume();
  });
  await eventually(() => idle.some(({ destroyed }) => destroyed));
  await eventually(async () => {
    const probe = await fetch(`http://127.0.0.1:${harness.metricsPort}/healthz`).catch(() => undefined);
    return probe?.status === 200;
  });
  for (const socket of idle) socket.destroy();
});
