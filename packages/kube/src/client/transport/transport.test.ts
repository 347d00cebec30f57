// Connections, deadlines, resets and limits. The server is a socket on
// loopback whose bytes the test scripts.
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  DecodeError,
  KubeApiError,
  KubeConnectionError,
  KubeTimeoutError,
  ResponseTooLargeError,
} from "../../core/errors.ts";
import { type Loopback, respondJson, type Script, startLoopback } from "../../testing/loopback-server.ts";
import { ManualClock } from "../../testing/manual-clock.ts";
import type { KubeClient } from "../client.ts";
import { createKubeClient, type KubeClientOptions } from "../kube-client.ts";

async function serve(
  script: Script,
  options: Partial<KubeClientOptions> = {},
): Promise<Loopback & { client: KubeClient }> {
  const server = await startLoopback(script);
  return Object.assign(server, { client: createKubeClient({ config: server.config(), ...options }) });
}
const get = { method: "GET", path: "/x" };
const ok: Script = (_request, response) => respondJson(response, 200, { ok: true });

test("sequential calls share one connection", async () => {
  await using server = await serve(ok);
  for (let i = 0; i < 10; i++) expect(await server.client.request(get)).toEqual({ ok: true });
  expect(server.connections).toBe(1);
});

test("concurrent calls use at most the configured connections", async () => {
  await using server = await serve(ok, { maxSockets: 3 });
  await Promise.all(Array.from({ length: 30 }, () => server.client.request(get)));
  expect(server.connections).toBe(3);
});

test("headers: credentials, accepted types, impersonation", async () => {
  const server = await startLoopback(ok);
  await using _ = server;
  const config = server.config({
    authentication: { type: "token", token: "secret" },
    impersonate: { user: "jane", uid: undefined, groups: ["dev", "ops"], extra: { scopes: ["a"] } },
  });
  const client = createKubeClient({ config, userAgent: "tester/1" });
  await client.request({ method: "POST", path: "/x", query: { a: "1" }, body: { é: "漢" } });
  expect(server.seen[0]).toMatchObject({ method: "POST", url: "/x?a=1", body: '{"é":"漢"}' });
  expect(server.seen[0]?.headers).toMatchObject({
    authorization: "Bearer secret",
    "user-agent": "tester/1",
    accept: "application/json",
    "content-type": "application/json",
    "content-length": "12",
    "impersonate-user": "jane",
    "impersonate-group": "dev, ops",
    "impersonate-extra-scopes": "a",
  });
});

test.each(["DELETE", "POST", "PATCH", "PUT"])(
  "the body of a %s arrives, and the connection is reusable",
  async (method) => {
    await using server = await serve(ok);
    await server.client.request({ method, path: "/x", body: { a: 1 } });
    await server.client.request(get);
    expect(server.seen).toMatchObject([
      { method, body: '{"a":1}', connection: 1 },
      { method: "GET", body: "", connection: 1 },
    ]);
  },
);

test("an API with a path prefix", async () => {
  await using server = await startLoopback(ok);
  const config = server.config({ server: `http://127.0.0.1:${server.port}/k8s/clusters/c1/` });
  await createKubeClient({ config }).request(get);
  expect(server.seen[0]?.url).toBe("/k8s/clusters/c1/x");
});

test("a server that sends no response head within the deadline", async () => {
  await using server = await serve(() => undefined);
  const call = server.client.request({ ...get, timeoutMs: 50 });
  await expect(call).rejects.toThrow(new KubeTimeoutError("GET /x: no complete response within 50 ms"));
});

test("a server that stalls inside the body", async () => {
  await using server = await serve((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write('{"half":');
  });
  await expect(server.client.request({ ...get, timeoutMs: 50 })).rejects.toThrow(KubeTimeoutError);
});

const proxied = { namespace: "n", pod: "p", port: 9090, path: "/metrics", firstByteMs: 3000, timeoutMs: 10_000 };
const proxiedText = "GET /api/v1/namespaces/n/pods/p:9090/proxy/metrics";

test("a server that reads the request and stays silent fails at the limit for the response headers", async () => {
  const clock = new ManualClock();
  await using server = await serve(() => undefined, { clock });
  const outcome = settled(server.client.podProxyGet(proxied));
  await expect.poll(() => server.seen.length).toBe(1);
  await clock.advance(2999);
  expect(outcome.value).toBeUndefined();
  await clock.advance(1);
  expect(outcome.value).toEqual(new KubeTimeoutError(`${proxiedText}: no response headers within 3000 ms`));
  expect(clock.pending).toBe(0);
  await expect.poll(() => server.sockets.size).toBe(0);
});

test("a server that accepts and never completes the handshake fails at the limit for the connection", async () => {
  const clock = new ManualClock();
  await using peer = await silentPeer();
  const config = {
    origin: "silent",
    server: `https://127.0.0.1:${peer.port}`,
    authentication: { type: "none" },
  } as const;
  const outcome = settled(createKubeClient({ config, clock }).podProxyGet(proxied));
  await expect.poll(() => peer.sockets.size).toBe(1);
  await clock.advance(2999);
  expect(outcome.value).toBeUndefined();
  await clock.advance(1);
  expect(outcome.value).toEqual(new KubeTimeoutError(`${proxiedText}: no connection within 3000 ms`));
  expect(clock.pending).toBe(0);
});

test("waiting for a free connection counts as connecting, and the limit for the headers starts after it", async () => {
  const clock = new ManualClock();
  const open: ServerResponse[] = [];
  await using server = await serve((_request, response) => void open.push(response), { clock, maxSockets: 1 });
  const first = server.client.podProxyGet({ ...proxied, firstByteMs: 8000 });
  await expect.poll(() => open.length).toBe(1);
  const second = settled(server.client.podProxyGet(proxied));
  await clock.advance(2000);
  open[0]?.end("first");
  expect(await first).toEqual({ status: 200, body: "first" });
  await expect.poll(() => open.length).toBe(2);
  await clock.advance(2999);
  expect(second.value).toBeUndefined();
  await clock.advance(1);
  expect(second.value).toBeInstanceOf(KubeTimeoutError);
});

test("after the headers only the deadline of the whole call limits the body", async () => {
  const clock = new ManualClock();
  await using server = await serve(
    (_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half");
    },
    { clock },
  );
  const outcome = settled(server.client.podProxyGet(proxied));
  // The limit for the headers is cancelled when they arrive: only the timer of the deadline is left.
  await expect.poll(() => server.seen.length === 1 && clock.pending).toBe(1);
  await clock.advance(9999);
  expect(outcome.value).toBeUndefined();
  await clock.advance(1);
  expect(outcome.value).toEqual(new KubeTimeoutError(`${proxiedText}: no complete response within 10000 ms`));
});

/** The outcome of the promise so far. */
function settled(promise: Promise<unknown>): { readonly value: unknown } {
  const outcome: { value: unknown } = { value: undefined };
  promise.then(
    (value) => Object.assign(outcome, { value }),
    (value: unknown) => Object.assign(outcome, { value }),
  );
  return outcome;
}

/** Accepts connections and never sends a byte. */
async function silentPeer(): Promise<
  { readonly port: number; readonly sockets: ReadonlySet<Socket> } & AsyncDisposable
> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("a connection reset inside the body", async () => {
  await using server = await serve((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write('{"half":', () => response.destroy());
  });
  const error = await server.client.request(get).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(KubeConnectionError);
  expect(error).toMatchObject({
    message: expect.stringContaining("connection broken inside the response"),
    cause: expect.any(Error),
  });
});

test("an abort rejects with the signal's reason and closes the connection", async () => {
  await using server = await serve(() => undefined);
  const abort = new AbortController();
  const call = server.client.request({ ...get, signal: abort.signal });
  const rejected = expect(call).rejects.toBe("stop");
  await expect.poll(() => server.seen.length).toBe(1);
  abort.abort("stop");
  await rejected;
  await expect.poll(() => server.sockets.size).toBe(0);
});

test("a refused connection: the error contains the address and the cause", async () => {
  const server = await startLoopback(ok);
  const config = server.config();
  await server[Symbol.asyncDispose]();
  const error = await createKubeClient({ config })
    .request(get)
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(KubeConnectionError);
  expect(error).toMatchObject({ message: expect.stringContaining("ECONNREFUSED"), cause: { code: "ECONNREFUSED" } });
});

/** Responds to the first request, then closes the connection on the second one without a response. */
const hangUpOnReuse = (): Script => {
  const known = new Set<number>();
  return (request, response) => {
    if (known.has(request.connection)) response.socket?.destroy();
    else respondJson(response, 200, { connection: request.connection });
    known.add(request.connection);
  };
};

test("a kept-alive connection that the server closed: a GET is retried on a new one", async () => {
  await using server = await serve(hangUpOnReuse());
  await server.client.request(get);
  expect(await server.client.request(get)).toEqual({ connection: 2 });
});

test("a kept-alive connection that breaks after a write was sent: the write is not repeated", async () => {
  await using server = await serve(hangUpOnReuse());
  await server.client.request(get);
  const write = server.client.request({ method: "POST", path: "/x", body: {} });
  await expect(write).rejects.toThrow(KubeConnectionError);
  await turn();
  expect(server.seen.filter((request) => request.method === "POST")).toHaveLength(1);
});

test("the fence is checked when the connection is open: a handshake may take longer than the lease", async () => {
  // Accepts the connection and never completes the TLS handshake.
  const deaf = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
  await once(deaf, "listening");
  const { port } = deaf.address() as AddressInfo;
  let checks = 0;
  const server = `https://127.0.0.1:${port}`;
  const client = createKubeClient({
    config: { origin: "deaf", server, authentication: { type: "none" } },
    guardWrite: () => {
      checks += 1;
    },
  });
  const accepted = once(deaf, "connection");
  const write = client.request({ method: "POST", path: "/x", body: {}, timeoutMs: 300 });
  await expect(write).rejects.toThrow(KubeTimeoutError);
  await accepted;
  expect(checks, "the fence was checked").toBe(0);
  client.close();
  deaf.close();
});

test("a new connection that breaks is an error, even for a GET", async () => {
  await using server = await serve((_request, response) => void response.socket?.destroy());
  await expect(server.client.request(get)).rejects.toThrow(KubeConnectionError);
  expect(server.seen).toHaveLength(1);
});

test("idle connections that the server closes are detected", async () => {
  await using server = await serve(ok);
  await server.client.request(get);
  for (const socket of server.sockets) socket.destroy();
  await expect.poll(() => server.sockets.size).toBe(0);
  await turn();
  await server.client.request(get);
  await server.client.request({ method: "POST", path: "/x", body: {} });
  expect(server.connections).toBe(2);
});

test.each([
  { body: "<html>sorry</html>", want: 'GET /x: expected JSON, got "<html>sorry</html>"' },
  { body: '{"data": "c2VjcmV0', want: "GET /x: expected JSON, got broken JSON of 18 characters" },
])("a response that is not JSON: $body", async ({ body, want }) => {
  await using server = await serve((_request, response) => respondJson(response, 200, body));
  await expect(server.client.request(get)).rejects.toThrow(new DecodeError(want));
});

test("a response past the limit is not read to its end", async () => {
  await using server = await serve((_request, response) => respondJson(response, 200, "x".repeat(5000)), {
    maxResponseBytes: 1000,
  });
  await expect(server.client.request(get)).rejects.toThrow(ResponseTooLargeError);
});

test("redirects are not followed", async () => {
  await using server = await serve((_request, response) => respondJson(response, 302, "", { location: "/elsewhere" }));
  await expect(server.client.request(get)).rejects.toThrow(KubeApiError);
  expect(server.seen).toHaveLength(1);
});

test("a closed client rejects calls, lets running ones finish and keeps no connection", async () => {
  let finish: (() => void) | undefined;
  await using server = await serve((_request, response) => {
    finish = () => respondJson(response, 200, { late: true });
  });
  const running = server.client.request(get);
  await expect.poll(() => finish).toBeDefined();
  server.client.close();
  await expect(server.client.request(get)).rejects.toThrow("the client is closed");
  finish?.();
  expect(await running).toEqual({ late: true });
  await expect.poll(() => server.sockets.size).toBe(0);
});
