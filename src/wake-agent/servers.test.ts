// The agent's HTTP servers on real sockets, with slow and hostile peers.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { silentLogger } from "@firebolt-operator/kube";
import { afterEach, expect, test } from "vitest";
import { type AgentServer, createDemandServer, createHoldServer } from "./servers.ts";

const stop = { controller: new AbortController(), running: Promise.resolve() };
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  stop.controller.abort();
  await stop.running;
});

async function open(door: AgentServer): Promise<number> {
  stop.controller = new AbortController();
  stop.running = door.run(stop.controller.signal);
  await door.whenListening;
  return door.port ?? 0;
}

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  // Some of these tests expect to be cut off; "close" follows.
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

const demandOf = (port: number) => fetch(`http://127.0.0.1:${port}/demand`);

test("idle peers keep no other peer out: the demand can be read, and few of them stay connected", async () => {
  const port = await open(createDemandServer(0, { "/demand": () => "the response\n" }));
  const silent: Socket[] = [];
  for (let count = 0; count < 200; count++) silent.push(await dial(port));
  expect(await (await demandOf(port)).text()).toBe("the response\n");
  await expect.poll(() => silent.filter(({ closed }) => !closed).length).toBeLessThanOrEqual(32);
});

test("a peer that has made a request since is closed after those that have not", async () => {
  const port = await open(
    createDemandServer(0, { "/demand": () => "the response\n" }, { mostConnections: 2, responseMs: 5_000 }),
  );
  const [asking, silent] = [await dial(port), await dial(port)];
  asking.write("GET /demand HTTP/1.1\r\nhost: a\r\n\r\n");
  await once(asking, "data");
  const closed = once(silent, "close");
  await dial(port);
  await closed;
  asking.write("GET /demand HTTP/1.1\r\nhost: a\r\n\r\n");
  expect(String((await once(asking, "data"))[0])).toContain("200 OK");
});

test("a peer that does not read its response is cut off", async () => {
  // More than the kernel buffers.
  const body = "x".repeat(64 * 1024 * 1024);
  const port = await open(createDemandServer(0, { "/demand": () => body }, { mostConnections: 32, responseMs: 50 }));
  const socket = await dial(port);
  socket.pause();
  socket.write("GET /demand HTTP/1.1\r\nhost: a\r\n\r\n");
  await once(socket, "readable");
  const closed = once(socket, "close");
  let bytes = 0;
  // Timers of one process fire in order: the agent has cut the connection by then, and the rest is what the kernel had
  // buffered.
  await new Promise((resolve) => setTimeout(resolve, 200));
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await closed;
  expect(bytes).toBeLessThan(body.length);
});

test.each(["POST", "GET"])(
  "a %s with a body that never ends gets a response, and its connection is closed",
  async (method) => {
    const port = await open(createDemandServer(0, { "/demand": () => "the response\n" }));
    const socket = await dial(port);
    const received: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => received.push(chunk));
    const closed = once(socket, "close");
    socket.write(`${method} /demand HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\nx`);
    await closed;
    expect(Buffer.concat(received).toString()).toMatch(method === "GET" ? /^HTTP\/1.1 200/ : /^HTTP\/1.1 405/);
  },
);

test("a check that fails returns a response without a decision: the gateway lets the request pass", async () => {
  const fails = () => Promise.reject(new Error("a defect"));
  const admission = { check: fails, hold: fails };
  const port = await open(
    createHoldServer({
      port: 0,
      admission,
      epoch: () => 1,
      publish: () => Promise.resolve(false),
      logger: silentLogger,
    }),
  );
  for (const path of ["/check", "/hold"]) {
    const response = await fetch(`http://127.0.0.1:${port}${path}?engine=e`);
    expect([response.status, response.headers.get("x-firebolt-wake-decision")]).toEqual([500, null]);
  }
});
