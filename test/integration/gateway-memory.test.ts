// Uploads to an engine that does not read fill a gateway's memory. It refuses new work before the kernel would kill it, so that what it has
// accepted goes on.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { eventually } from "../support/cluster.ts";
import { openGatewayWorld } from "../support/gateway-world.ts";
import { startRecordingEngine } from "../support/recording-engine.ts";

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
  /** What the gateway said to it, if anything. */
  received(): string;
}

/** Writes as much as the gateway takes, and is ended by it or by the test; both are no error. */
async function upload(port: number): Promise<Upload> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => socket.destroy());
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  await once(socket, "connect");
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nX-Firebolt-Engine: deaf\r\nContent-Length: ${UPLOAD_BYTES}\r\n\r\n`);
  socket.write(Buffer.alloc(8 * MEBIBYTE, "x"));
  return { socket, received: () => received };
}

test("a gateway with a memory limit stays below it, and serves again when the uploads have gone", async () => {
  await using world = await openGatewayWorld({ memoryLimitBytes: LIMIT_BYTES });
  await using deaf = await startRecordingEngine(world.nextAddress(), { answers: "never" });
  world.publish("deaf", [deaf]);
  world.publish("e1", [await world.startEngine({ engine: "e1" })]);
  await world.client.query({ engine: "e1" });
  const running = Promise.allSettled([world.client.query({ engine: "e1", sql: "SELECT sleep(15000)" })]);
  const { pid } = world.envoy.process;
  let mostBytes = 0;
  const watch = setInterval(() => {
    mostBytes = Math.max(mostBytes, ownBytes(pid));
  }, 20);
  const uploads: Upload[] = [];
  try {
    // One after the other, as loaders that hang pile up: each has sent what the gateway takes, or is refused, before the next comes.
    const taken = (): Promise<number> => world.envoy.statistic("http.gateway.downstream_cx_rx_bytes_total");
    for (let sent = 0; sent < UPLOADS; sent++) {
      const before = await taken();
      const one = await upload(world.clientPort);
      uploads.push(one);
      const over = (): boolean => one.received() !== "" || one.socket.destroyed;
      await eventually(async () => over() || (await taken()) - before > 3 * MEBIBYTE);
    }
    expect(uploads.filter(({ received }) => received().startsWith("HTTP/1.1 503 "))).not.toEqual([]);
    const { status, text } = await world.client.send({ engine: "e1" });
    expect({ status, text }).toEqual({ status: 503, text: "envoy overloaded" });
    await world.envoy.logged(/ 503 flags=- details=overload .*engine=e1$/);
    expect((await fetch(`http://127.0.0.1:${world.metricsPort}/healthz`)).status).toBe(200);
  } finally {
    clearInterval(watch);
    for (const { socket } of uploads) socket.destroy();
  }
  expect(mostBytes).toBeLessThan(LIMIT_BYTES);
  // A query that was running all the time was not touched.
  expect(await running).toMatchObject([{ status: "fulfilled", value: { value: 15_000 } }]);
  await eventually(async () => (await world.client.send({ engine: "e1" })).status === 200);
  expect(world.envoy.process.ending()).toBeUndefined();
  console.log(`gateway-memory: at most ${Math.round(mostBytes / MEBIBYTE)} MiB of ${LIMIT_BYTES / MEBIBYTE}`);
});
