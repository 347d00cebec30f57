// Logs over a scripted connection. The cluster tests read logs from a real kubelet.
import { expect, test } from "vitest";
import { KubeApiError, KubeConnectionError, ResponseTooLargeError } from "../core/errors.ts";
import { respondJson, type Script, startLoopback } from "../testing/loopback-server.ts";
import type { LogOptions, LogRequest } from "./client.ts";
import { createKubeClient } from "./kube-client.ts";

const POD: LogRequest = { namespace: "a", pod: "web-0", container: "web" };

async function read(script: Script, request: Partial<LogRequest> = {}, options: Partial<LogOptions> = {}) {
  await using server = await startLoopback(script);
  const client = createKubeClient({ config: server.config() });
  const lines: string[] = [];
  let failure: unknown;
  try {
    const signal = new AbortController().signal;
    for await (const line of client.podLogs({ ...POD, ...request }, { signal, ...options })) lines.push(line);
  } catch (error) {
    failure = error;
  }
  client.close();
  return { lines, failure, urls: server.seen.map(({ url }) => url) };
}

test("lines are complete however the bytes are chunked, even the last one without a newline", async () => {
  const { lines, failure } = await read((_request, response) => {
    const bytes = Buffer.from("first\nzweite \u00fc\n\nlast");
    for (const byte of bytes) response.write(Buffer.of(byte));
    response.end();
  });
  expect(lines).toEqual(["first", "zweite \u00fc", "last"]);
  expect(failure).toBeUndefined();
});

test("the query contains the options", async () => {
  const all = { timestamps: true, tailLines: 0, sinceSeconds: 5, limitBytes: 10, follow: true, previous: true };
  const script: Script = (_request, response) => void response.end();
  expect((await read(script, all)).urls).toEqual([
    "/api/v1/namespaces/a/pods/web-0/log?container=web&timestamps=true&tailLines=0&sinceSeconds=5&limitBytes=10&follow=true&previous=true",
  ]);
  expect((await read(script)).urls).toEqual(["/api/v1/namespaces/a/pods/web-0/log?container=web"]);
});

test("an error response is a KubeApiError", async () => {
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "BadRequest", message: "no container" };
  const { failure } = await read((_request, response) => respondJson(response, 400, status));
  expect(failure).toBeInstanceOf(KubeApiError);
  expect(String(failure)).toContain("no container");
});

test("a response without content is an empty log", async () => {
  const { lines, failure } = await read((_request, response) => void response.writeHead(204).end());
  expect(lines).toEqual([]);
  expect(failure).toBeUndefined();
});

test("a broken connection is an error after the received lines", async () => {
  const { lines, failure } = await read((_request, response) => {
    response.write("one\n");
    setImmediate(() => response.destroy());
  });
  expect(lines).toEqual(["one"]);
  expect(failure).toBeInstanceOf(KubeConnectionError);
  expect(String(failure)).toContain("GET /api/v1/namespaces/a/pods/web-0/log: connection broken");
});

test("the signal ends a followed log without an error", async () => {
  await using server = await startLoopback((_request, response) => void response.write("one\n"));
  const client = createKubeClient({ config: server.config() });
  const stop = new AbortController();
  const lines: string[] = [];
  for await (const line of client.podLogs({ ...POD, follow: true }, { signal: stop.signal })) {
    lines.push(line);
    stop.abort();
  }
  expect(lines).toEqual(["one"]);
  client.close();
});

test("a line that is too long is rejected", async () => {
  const { failure } = await read((_request, response) => void response.end("x".repeat(100)), {}, { maxLineBytes: 10 });
  expect(failure).toBeInstanceOf(ResponseTooLargeError);
});
