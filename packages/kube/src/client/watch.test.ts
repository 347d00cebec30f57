// Watches as streams: chunked anywhere, silent, broken, abandoned.
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import {
  DecodeError,
  KubeApiError,
  KubeConnectionError,
  KubeTimeoutError,
  ResponseTooLargeError,
} from "../core/errors.ts";
import type { KubeObject } from "../core/object.ts";
import { defineResource } from "../core/resource.ts";
import { type Loopback, respondJson, type Script, startLoopback } from "../testing/loopback-server.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import type { KubeClient, WatchEvent, WatchOptions } from "./client.ts";
import { createKubeClient, type KubeClientOptions } from "./kube-client.ts";

const ConfigMap = defineResource<KubeObject & { data?: Record<string, string> }>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});
type Event = WatchEvent<KubeObject & { data?: Record<string, string> }>;

async function serve(
  script: Script,
  options: Partial<KubeClientOptions> = {},
): Promise<Loopback & { client: KubeClient }> {
  const server = await startLoopback(script);
  return Object.assign(server, { client: createKubeClient({ config: server.config(), ...options }) });
}

function watch(client: KubeClient, more: Partial<WatchOptions> = {}): AsyncIterable<Event> {
  const { signal } = new AbortController();
  return client.watch(ConfigMap, { signal, timeoutSeconds: 60, idleTimeoutMs: 5000, ...more });
}

async function collect(events: AsyncIterable<Event>): Promise<Event[]> {
  const all: Event[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const line = (name: string, data: Record<string, string> = {}): string =>
  `${JSON.stringify({ type: "ADDED", object: { kind: "ConfigMap", metadata: { name }, data } })}\n`;

test("events chunked into single bytes, with multi-byte characters", async () => {
  const text = line("a", { greeting: "grüß 漢字 😀" }) + line("b");
  await using server = await serve(async (_request, response) => {
    for (const byte of Buffer.from(text)) await new Promise((done) => response.write(Buffer.of(byte), done));
    response.end();
  });
  const events = await collect(watch(server.client));
  expect(events.map((event) => event.object.metadata?.name)).toEqual(["a", "b"]);
  expect(events[0]?.object.data).toEqual({ greeting: "grüß 漢字 😀" });
});

test("a very long line", async () => {
  const value = "x".repeat(8 * 1024 * 1024);
  await using server = await serve((_request, response) => void response.end(line("big", { value })));
  const [event] = await collect(watch(server.client));
  expect(event?.object.data?.["value"]?.length).toBe(value.length);
});

test("a line past the limit", async () => {
  await using server = await serve((_request, response) => void response.write("x".repeat(2000)), {
    maxResponseBytes: 1000,
  });
  await expect(collect(watch(server.client))).rejects.toThrow(ResponseTooLargeError);
  await expect.poll(() => server.sockets.size).toBe(0);
});

test("ERROR events and bookmarks are yielded unchanged", async () => {
  const status = { kind: "Status", apiVersion: "v1", code: 410, reason: "Expired" };
  const mark = { kind: "ConfigMap", apiVersion: "v1", metadata: { resourceVersion: "9" } };
  await using server = await serve((_request, response) => {
    response.write(`${JSON.stringify({ type: "BOOKMARK", object: mark })}\n`);
    response.end(`${JSON.stringify({ type: "ERROR", object: status })}\n`);
  });
  expect(await collect(watch(server.client))).toEqual([
    { type: "BOOKMARK", object: mark },
    { type: "ERROR", object: status },
  ]);
});

test.each([
  { name: "not JSON", text: "<html>\n", want: 'got "<html>"' },
  { name: "a broken line", text: '{"type":"ADDED","object":{"da\n', want: "got broken JSON of 29 characters" },
  { name: "no event", text: "[1]\n", want: "expected a watch event" },
  { name: "an unknown event", text: '{"type":"MOVED","object":{}}\n', want: 'type "MOVED"' },
  { name: "an event without an object", text: '{"type":"ADDED"}\n', want: "expected a ConfigMap" },
  { name: "an end in the middle of a line", text: '{"type":"ADDED",', want: "got broken JSON" },
])("refuses $name, after the events before it", async ({ text, want }) => {
  await using server = await serve((_request, response) => void response.end(line("good") + text));
  const seen: string[] = [];
  const reading = (async () => {
    for await (const event of watch(server.client)) seen.push(event.object.metadata?.name ?? "");
  })();
  await expect(reading).rejects.toThrow(DecodeError);
  await expect(reading).rejects.toThrow(want);
  expect(seen).toEqual(["good"]);
});

test("silence ends the watch; bytes and a slow consumer postpone that", async () => {
  const clock = new ManualClock();
  let send: ((text: string) => void) | undefined;
  await using server = await serve(
    (_request, response) => {
      response.flushHeaders();
      send = (text) => void response.write(text);
    },
    { clock },
  );
  const events = watch(server.client, { idleTimeoutMs: 1000 })[Symbol.asyncIterator]();
  const first = events.next();
  await expect.poll(() => send).toBeDefined();
  send?.(line("a"));
  expect((await first).value.object.metadata.name).toBe("a");
  await clock.advance(60_000);
  const second = events.next();
  send?.(line("b"));
  expect((await second).value.object.metadata.name).toBe("b");
  const third = events.next().catch((error: unknown) => error);
  await clock.advance(999);
  await clock.advance(1);
  expect(await third).toBeInstanceOf(KubeTimeoutError);
  await expect.poll(() => server.sockets.size).toBe(0);
  expect(clock.pending).toBe(0);
});

test("a server that accepts the watch and sends no headers is abandoned long before the idle timeout", async () => {
  const clock = new ManualClock();
  await using server = await serve(() => undefined, { clock });
  const ending = collect(watch(server.client, { idleTimeoutMs: 150_000 })).catch((error: unknown) => error);
  await expect.poll(() => server.seen).toHaveLength(1);
  await clock.advance(9_999);
  expect(server.sockets.size).toBe(1);
  await clock.advance(1);
  const error = await ending;
  // Not a timeout of the watch: it reveals nothing about the server's history.
  expect(error).toBeInstanceOf(KubeConnectionError);
  expect(error).toMatchObject({ message: "GET /api/v1/configmaps: no response headers within 10000 ms" });
  await expect.poll(() => server.sockets.size).toBe(0);
  expect(clock.pending).toBe(0);
});

test("silence inside the initial state times out sooner than silence after it", async () => {
  const clock = new ManualClock();
  const responses: ServerResponse[] = [];
  await using server = await serve((_request, response) => void responses.push(response), { clock });
  const limits = { idleTimeoutMs: 150_000, initialIdleTimeoutMs: 30_000, sendInitialEvents: true };
  const open = async () => {
    const events = watch(server.client, limits)[Symbol.asyncIterator]();
    const first = events.next();
    await expect.poll(() => responses.length).toBeGreaterThan(0);
    return { events, first, response: responses.pop() };
  };
  const cut = await open();
  cut.response?.write(line("a"));
  await cut.first;
  const cutEnd = cut.events.next().catch((error: unknown) => error);
  await clock.advance(30_000);
  expect(await cutEnd).toBeInstanceOf(KubeTimeoutError);

  const complete = await open();
  const annotations = { "k8s.io/initial-events-end": "true" };
  const mark = { kind: "ConfigMap", metadata: { resourceVersion: "9", annotations } };
  complete.response?.write(`${JSON.stringify({ type: "BOOKMARK", object: mark })}\n`);
  await complete.first;
  let ended = false;
  const end = complete.events.next().catch((error: unknown) => {
    ended = true;
    return error;
  });
  await clock.advance(149_999);
  expect(ended).toBe(false);
  await clock.advance(1);
  expect(await end).toBeInstanceOf(KubeTimeoutError);
});

test("a broken connection, a rejected watch", async () => {
  await using broken = await serve((_request, response) => void response.write(line("a"), () => response.destroy()));
  await expect(collect(watch(broken.client))).rejects.toThrow(KubeConnectionError);
  const status = { kind: "Status", apiVersion: "v1", reason: "Expired", message: "too old" };
  await using refused = await serve((_request, response) => respondJson(response, 410, status));
  const error = await collect(watch(refused.client)).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(KubeApiError);
  expect(error).toMatchObject({
    status: 410,
    reason: "Expired",
    message: "GET /api/v1/configmaps: 410 Expired: too old",
  });
});

const endless: Script = (_request, response) => void response.write(line("a"));

test("leaving the loop closes the connection", async () => {
  await using server = await serve(endless);
  for await (const _event of watch(server.client)) break;
  await expect.poll(() => server.sockets.size).toBe(0);
});

test("an abort ends the watch with the signal's reason, while waiting and between two events", async () => {
  await using server = await serve((_request, response) => void response.write(line("a") + line("b")));
  const abort = new AbortController();
  const events = watch(server.client, { signal: abort.signal })[Symbol.asyncIterator]();
  await events.next();
  abort.abort("stop");
  await expect(events.next()).rejects.toBe("stop");
  const waiting = new AbortController();
  const reading = collect(watch(server.client, { signal: waiting.signal }));
  await expect.poll(() => server.seen.length).toBe(2);
  waiting.abort("stop too");
  await expect(reading).rejects.toBe("stop too");
  await expect.poll(() => server.sockets.size).toBe(0);
});

test("a consumer that does not read applies back-pressure", async () => {
  const text = line("a", { value: "x".repeat(64 * 1024) });
  const MANY = 2000;
  let written = 0;
  await using server = await serve((_request, response) => {
    const pump = (): void => {
      for (let more = true; more && written < MANY; written += 1) more = response.write(text);
    };
    response.on("drain", pump);
    pump();
  });
  const events = watch(server.client)[Symbol.asyncIterator]();
  await events.next();
  // Until the buffers in between are full: the server has stopped if it wrote nothing between two checks.
  let before = 0;
  const moved = (): number => {
    const more = written - before;
    before = written;
    return more;
  };
  await expect.poll(moved, { interval: 50 }).toBe(0);
  expect(written).toBeLessThan(MANY / 2);
  await events.return?.();
});

test("many watches do not block calls", async () => {
  await using server = await serve(
    (request, response) =>
      request.url.includes("watch=true") ? endless(request, response) : respondJson(response, 200, {}),
    { maxSockets: 1 },
  );
  const abort = new AbortController();
  const watches = Array.from({ length: 5 }, () =>
    collect(watch(server.client, { signal: abort.signal })).catch(() => undefined),
  );
  await expect.poll(() => server.seen.length).toBe(5);
  expect(await server.client.request({ method: "GET", path: "/x" })).toEqual({});
  abort.abort();
  await Promise.all(watches);
});

const event = (type: string, version: string, more: object = {}): string =>
  `${JSON.stringify({ type, object: { kind: "ConfigMap", metadata: { name: "a", resourceVersion: version, ...more } } })}\n`;

async function served(lines: readonly string[], more: Partial<WatchOptions>): Promise<string[]> {
  await using server = await serve((_request, response) => void response.end(lines.join("")));
  const events = await collect(watch(server.client, more));
  return events.map(
    ({ type, object }) => `${type} ${object.metadata?.name ?? "-"}@${object.metadata?.resourceVersion}`,
  );
}

test("a known event is yielded as a bookmark, undecoded", async () => {
  const requested: string[] = [];
  const isKnown = (version: string): boolean => requested.push(version) > 0 && version === "7";
  const lines = [event("ADDED", "6"), event("MODIFIED", "7").replace(/}}}$/m, "}, broken"), event("DELETED", "7")];
  expect(await served(lines, { isKnown })).toEqual(["ADDED a@6", "BOOKMARK -@7", "DELETED a@7"]);
  // A deletion is never skipped, whatever its version.
  expect(requested).toEqual(["6", "7"]);
});

test("another field named resourceVersion is not mistaken for the object's own", async () => {
  const more = { annotations: { resourceVersion: "7", text: '{"resourceVersion":"7"}' } };
  const lines = [event("MODIFIED", "8", more), event("MODIFIED", "7", { labels: { resourceVersion: "8" } })];
  expect(await served(lines, { isKnown: () => true })).toEqual(["MODIFIED a@8", "MODIFIED a@7"]);
});

test("the initial state is always decoded", async () => {
  const end = { annotations: { "k8s.io/initial-events-end": "true" } };
  const lines = [event("ADDED", "7"), event("BOOKMARK", "9", end), event("MODIFIED", "10")];
  const seen = await served(lines, { isKnown: () => true, sendInitialEvents: true });
  expect(seen).toEqual(["ADDED a@7", "BOOKMARK a@9", "BOOKMARK -@10"]);
});
