// Both ends of a port forward on one machine: what arrives at the other end, and what happens when one end closes.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openPortForward, publish } from "./port-forwards.ts";

let folder: string;
let targets: Server[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "port-forwards-"));
  targets = [];
});
afterEach(() => {
  for (const target of targets) target.close();
  rmSync(folder, { recursive: true });
});

async function listen(server: Server): Promise<{ host: string; port: number }> {
  targets.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the target has no port");
  return { host: "127.0.0.1", port: address.port };
}

/** Answers the whole of what it was sent, once the sender is done, in capitals. */
const shouting = (): Server =>
  createServer({ allowHalfOpen: true }, (socket) => {
    text(socket).then(
      (words) => socket.end(words.toUpperCase()),
      () => socket.destroy(),
    );
  });

async function ask(port: number, words: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.end(words);
  return text(socket);
}

test("bytes sent to the host's port reach the target, and its response arrives after the sender has closed", async () => {
  const target = await listen(shouting());
  await using inside = await publish({ folder, name: "api", target });
  await using outside = await openPortForward({ socket: inside.socket });
  expect(inside.socket).toBe(join(folder, "api.sock"));
  const answers = await Promise.all(["one", "two", "x".repeat(300_000)].map((words) => ask(outside.port, words)));
  expect(answers).toEqual(["ONE", "TWO", "X".repeat(300_000)]);
});

test("an unreachable target closes the connection, and the next one works once it is reachable", async () => {
  const gone = createServer();
  const target = await listen(gone);
  gone.close();
  await once(gone, "close");
  await using inside = await publish({ folder, name: "gateway", target });
  await using outside = await openPortForward({ socket: inside.socket });
  expect(await ask(outside.port, "anybody?").catch(() => "")).toBe("");
  const back = shouting();
  targets.push(back);
  await once(back.listen(target.port, target.host), "listening");
  expect(await ask(outside.port, "hello")).toBe("HELLO");
});

test("closing a port forward closes its connections and frees its port and its socket", async () => {
  const target = await listen(createServer());
  const inside = await publish({ folder, name: "api", target });
  const outside = await openPortForward({ socket: inside.socket });
  const socket = connect(outside.port, "127.0.0.1");
  await once(socket, "connect");
  const closed = once(socket.resume(), "close");
  await outside[Symbol.asyncDispose]();
  await closed;
  await using again = await openPortForward({ socket: inside.socket, port: outside.port });
  expect(again.port).toBe(outside.port);
  await inside[Symbol.asyncDispose]();
  await expect(once(connect(inside.socket), "connect")).rejects.toMatchObject({ code: "ENOENT" });
});

test("a stale socket file is replaced; a path too long for a socket is rejected", async () => {
  writeFileSync(join(folder, "api.sock"), "");
  const target = await listen(shouting());
  await using inside = await publish({ folder, name: "api", target });
  await using outside = await openPortForward({ socket: inside.socket });
  expect(await ask(outside.port, "hello")).toBe("HELLO");
  await expect(publish({ folder, name: "n".repeat(100), target })).rejects.toThrow("use a folder with a shorter path");
});

test("a target that moves is followed: it is resolved for every connection, and none is like a refused connection", async () => {
  const first = await listen(shouting());
  const second = await listen(
    createServer({ allowHalfOpen: true }, (socket) => void text(socket).then((words) => socket.end(`${words}!`))),
  );
  let target: typeof first | undefined = first;
  const where = () => (target === undefined ? Promise.reject(new Error("no Service")) : Promise.resolve(target));
  await using inside = await publish({ folder, name: "moving", target: where });
  await using outside = await openPortForward({ socket: inside.socket });
  expect(await ask(outside.port, "one")).toBe("ONE");
  target = undefined;
  // Reset or just ended: nothing comes back.
  expect(await ask(outside.port, "nobody").catch(() => "")).toBe("");
  target = second;
  expect(await ask(outside.port, "two")).toBe("two!");
});
