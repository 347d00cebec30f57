// What a call does besides one exchange: retries, renews credentials, checks the fence before every write, reports.
import { expect, test } from "vitest";
import { KubeApiError, NotLeaderError } from "../core/errors.ts";
import type { KubeObject } from "../core/object.ts";
import { defineResource } from "../core/resource.ts";
import { type Loopback, respondJson, type Script, startLoopback } from "../testing/loopback-server.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import type { RequestInfo } from "./calls.ts";
import type { KubeClient } from "./client.ts";
import { createKubeClient, type KubeClientOptions } from "./kube-client.ts";

async function serve(
  script: Script,
  options: Partial<KubeClientOptions> = {},
): Promise<Loopback & { client: KubeClient }> {
  const server = await startLoopback(script);
  return Object.assign(server, { client: createKubeClient({ config: server.config(), ...options }) });
}

/** Responds to each request with the next of these; the last one is repeated. */
function inTurn(
  ...responses: readonly { readonly status: number; readonly body?: unknown; readonly retryAfter?: string }[]
): Script {
  let next = 0;
  return (_request, response) => {
    const { status, body = {}, retryAfter } = responses[Math.min(next++, responses.length - 1)] ?? { status: 500 };
    respondJson(response, status, body, retryAfter === undefined ? {} : { "retry-after": retryAfter });
  };
}

const get = { method: "GET", path: "/x" };
const post = { method: "POST", path: "/x", body: { a: 1 } };
const ok = { status: 200, body: { ok: true } };
const busy = { status: 429, retryAfter: "2", body: { kind: "Status", apiVersion: "v1", reason: "TooManyRequests" } };

test("429 is retried, and each attempt is reported", async () => {
  const clock = new ManualClock();
  const reports: RequestInfo[] = [];
  await using server = await serve(inTurn(busy, ok), { clock, onRequest: (info) => reports.push(info) });
  const call = server.client.request(post);
  await expect.poll(() => reports.length).toBe(1);
  await clock.advance(1999);
  expect(server.seen).toHaveLength(1);
  await clock.advance(501);
  expect(await call).toEqual({ ok: true });
  expect(server.seen.map((request) => request.body)).toEqual(['{"a":1}', '{"a":1}']);
  const host = `127.0.0.1:${server.port}`;
  expect(reports).toMatchObject([
    { method: "POST", code: "429", host, verb: "post", resource: "/x" },
    { method: "POST", code: "200", host, verb: "post", resource: "/x" },
  ]);
});

test("a wait past the deadline is not started: the call fails with the response and its Retry-After", async () => {
  await using server = await serve(inTurn({ ...busy, retryAfter: "60" }));
  const error = await server.client.request({ ...get, timeoutMs: 5000 }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(KubeApiError);
  expect(error).toMatchObject({ status: 429, reason: "TooManyRequests", retryAfterMs: 60_000 });
  expect(server.seen).toHaveLength(1);
});

test("an abort ends the wait", async () => {
  await using server = await serve(inTurn(busy));
  const abort = new AbortController();
  const call = server.client.request({ ...get, signal: abort.signal });
  await expect.poll(() => server.seen.length).toBe(1);
  abort.abort("stop");
  await expect(call).rejects.toBe("stop");
});

test("every attempt of a write checks the fence first, and is not sent if the fence throws", async () => {
  const clock = new ManualClock();
  let checks = 0;
  const guardWrite = (): void => {
    checks += 1;
    if (checks > 1) throw new NotLeaderError("lease lost");
  };
  await using server = await serve(inTurn(ok, busy, ok), { clock, guardWrite });
  await server.client.request(get);
  expect(checks).toBe(0);
  const call = server.client.request(post).catch((reason: unknown) => reason);
  await expect.poll(() => server.seen.length).toBe(2);
  await clock.advance(3000);
  expect(await call).toBeInstanceOf(NotLeaderError);
  expect(server.seen.filter((request) => request.method === "POST")).toHaveLength(1);
});

test("a write that waits for a connection checks the fence when it gets one, not before", async () => {
  let leader = true;
  let finish: (() => void) | undefined;
  const guardWrite = (): void => {
    if (!leader) throw new NotLeaderError("lease lost");
  };
  const script: Script = (_request, response) => {
    finish = () => respondJson(response, 200, {});
  };
  await using server = await serve(script, { maxSockets: 1, guardWrite });
  const first = server.client.request(get);
  await expect.poll(() => finish).toBeDefined();
  const queued = server.client.request(post).catch((reason: unknown) => reason);
  leader = false;
  finish?.();
  await first;
  expect(await queued).toBeInstanceOf(NotLeaderError);
  expect(server.seen.map((request) => request.method)).toEqual(["GET"]);
});

test("the rate limit spaces requests", async () => {
  const clock = new ManualClock();
  await using server = await serve(inTurn(ok), { clock, qps: 1, burst: 2 });
  const calls = Promise.all([1, 2, 3].map(() => server.client.request(get)));
  await expect.poll(() => server.seen.length).toBe(2);
  await clock.advance(999);
  expect(server.seen).toHaveLength(2);
  await clock.advance(1);
  await calls;
  expect(server.seen).toHaveLength(3);
});

const ConfigMap = defineResource<KubeObject>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});

test("listeners receive writes but not dry runs or other kinds, and a failing listener has no effect", async () => {
  const script: Script = (request, response) =>
    respondJson(
      response,
      200,
      request.url.includes("/scale") ? { kind: "Scale" } : { metadata: { namespace: "n", name: "a", uid: "u" } },
    );
  await using server = await serve(script);
  const emitted: unknown[] = [];
  server.client.onWrite(() => {
    throw new Error("defect");
  });
  const stop = server.client.onWrite((write) => emitted.push(write));
  const object = { metadata: { namespace: "n", name: "a" } };
  await server.client.apply(ConfigMap, object, { fieldManager: "m", dryRun: true });
  await server.client.replace(ConfigMap, object, { subresource: "scale" });
  expect(emitted).toEqual([]);
  const stored = await server.client.replace(ConfigMap, object, { subresource: "status" });
  expect(emitted).toEqual([{ type: "written", resource: ConfigMap, object: stored }]);
  expect(stored).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", metadata: { uid: "u" } });
  stop();
  await server.client.create(ConfigMap, object);
  expect(emitted).toHaveLength(1);
});

test("an update that removed the last finalizer is reported as the deletion of the object", async () => {
  const metadata = { namespace: "n", name: "a", uid: "u", deletionTimestamp: "2026-01-01T00:00:00Z" };
  await using server = await serve(inTurn({ status: 200, body: { metadata } }));
  const emitted: unknown[] = [];
  server.client.onWrite((write) => emitted.push(write));
  await server.client.patch(ConfigMap, { namespace: "n", name: "a" }, { type: "merge", body: {} });
  expect(emitted).toEqual([{ type: "gone", resource: ConfigMap, key: { namespace: "n", name: "a" }, uid: "u" }]);
});

test("pods/proxy returns responses of the pod, and throws errors of the API server", async () => {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    reason: "ServiceUnavailable",
    message: "no route",
  };
  await using server = await serve(
    inTurn(
      { status: 503, body: "draining" },
      { status: 401, body: "who?" },
      { status: 503, body: status },
      { status: 200, body: "y".repeat(50) },
    ),
  );
  const request = { namespace: "n", pod: "p", port: 8122, path: "/metrics", maxBytes: 40 };
  expect(await server.client.podProxyGet(request)).toEqual({ status: 503, body: "draining" });
  expect(await server.client.podProxyGet(request)).toEqual({ status: 401, body: "who?" });
  await expect(server.client.podProxyGet({ ...request, maxBytes: 1000 })).rejects.toMatchObject({
    status: 503,
    reason: "ServiceUnavailable",
  });
  await expect(server.client.podProxyGet(request)).rejects.toThrow("larger than 40 bytes");
  expect(server.seen[0]?.url).toBe("/api/v1/namespaces/n/pods/p:8122/proxy/metrics");
});
