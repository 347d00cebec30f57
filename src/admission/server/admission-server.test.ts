// The webhook server on a loopback port, with broken or hostile senders: a response or a closed connection, never a
// crash, and never an allowed request without a validator.

import { once } from "node:events";
import { connect as connectPlain } from "node:net";
import { connect as connectSecure } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AdmissionLoopback, startAdmissionLoopback } from "../../../test/admission/support/loopback.ts";
import { hookOf, parseResponse, review, UID } from "../../../test/admission/support/review-fixtures.ts";
import { engine } from "../../../test/harness/fixtures/manifests.ts";
import type { Validator } from "../validators/validator.ts";
import { BODY_LIMIT_BYTES } from "./exchange.ts";

const question = (object: object = engine({ name: "e" })) => JSON.stringify(review("validate-engine", { object }));

describe("well-formed or not", () => {
  let asked = 0;
  const counting: Validator = async () => {
    asked += 1;
    return { type: "allow", warnings: [] };
  };
  let loopback: AdmissionLoopback;
  beforeAll(async () => {
    loopback = await startAdmissionLoopback({ "validate-engine": counting });
  });
  afterAll(() => loopback[Symbol.asyncDispose]());

  test("the response carries the uid of the request", async () => {
    const { status, body, headers } = await loopback.send({ body: question() });
    expect([status, headers["content-type"]]).toEqual([200, "application/json"]);
    expect(parseResponse(body)).toEqual({ uid: UID, allowed: true });
  });

  test("the API server's query string and a charset are accepted", async () => {
    const path = `${hookOf("validate-engine").path}?timeout=10s`;
    const sent = { path, body: question(), headers: { "content-type": "application/json; charset=utf-8" } };
    expect(parseResponse((await loopback.send(sent)).body).allowed).toBe(true);
  });

  test.each([
    { name: "GET", sent: { method: "GET" }, status: 405 },
    { name: "PUT", sent: { method: "PUT", body: "{}" }, status: 405 },
    { name: "another path", sent: { path: "/metrics", body: "{}" }, status: 404 },
    { name: "the root", sent: { path: "/", body: "{}" }, status: 404 },
    {
      name: "a path with something behind",
      sent: { path: `${hookOf("validate-engine").path}/`, body: "{}" },
      status: 404,
    },
    { name: "a path of an inherited name", sent: { path: "/__proto__", body: "{}" }, status: 404 },
    { name: "text", sent: { headers: { "content-type": "text/plain" }, body: "{}" }, status: 415 },
    {
      name: "a form",
      sent: { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "a=b" },
      status: 415,
    },
    { name: "no content type", sent: { headers: { "content-type": "" }, body: "{}" }, status: 415 },
    {
      name: "JSON of another kind",
      sent: { headers: { "content-type": "application/jsonx" }, body: "{}" },
      status: 415,
    },
    { name: "a compressed body", sent: { headers: { "content-encoding": "gzip" }, body: "{}" }, status: 415 },
    { name: "no body", sent: {}, status: 400 },
    { name: "truncated JSON", sent: { body: question().slice(0, -10) }, status: 400 },
    { name: "not JSON", sent: { body: "<xml/>" }, status: 400 },
    { name: "bytes that are not UTF-8", sent: { body: Buffer.from([0xff, 0xfe, 0x00]) }, status: 400 },
    { name: "deep nesting", sent: { body: '{"a":'.repeat(100_000) }, status: 400 },
    {
      name: "no uid",
      sent: { body: JSON.stringify(review("validate-engine", { object: {} }, { uid: "" })) },
      status: 400,
    },
    { name: "an older envelope", sent: { body: question().replace("k8s.io/v1", "k8s.io/v1beta1") }, status: 400 },
    { name: "headers past their limit", sent: { headers: { x: "x".repeat(20_000) }, body: "{}" }, status: 431 },
  ])("$name: $status, and no judge is called", async ({ sent, status }) => {
    const before = asked;
    const answer = await loopback.send(sent);
    expect(answer.status).toBe(status);
    expect(answer.body).not.toContain("allowed");
    expect(asked).toBe(before);
  });

  test.each([
    {
      name: "another kind",
      changes: { kind: { group: "compute.firebolt.io", version: "v1alpha1", kind: "FireboltInstance" } },
    },
    {
      name: "another version",
      changes: { kind: { group: "compute.firebolt.io", version: "v9", kind: "FireboltEngine" } },
    },
    { name: "another operation", changes: { operation: "CONNECT" } },
    { name: "a subresource", changes: { subResource: "scale" } },
  ])("$name is rejected with 400 under its uid", async ({ changes }) => {
    const before = asked;
    const body = JSON.stringify(review("validate-engine", { object: engine({ name: "e" }) }, changes));
    const response = parseResponse((await loopback.send({ body })).body);
    expect(response).toMatchObject({ uid: UID, allowed: false, status: { code: 400, reason: "BadRequest" } });
    expect(asked).toBe(before);
  });

  test("keys that target prototypes change nothing", async () => {
    const text = question({ metadata: { name: "e" }, spec: {} }).replace(
      '"spec":{}',
      '"spec":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    );
    expect(parseResponse((await loopback.send({ body: text })).body)).toMatchObject({ uid: UID });
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  test("a body at the limit is read, one beyond is not, announced or not", async () => {
    const padded = (bytes: number) => {
      const text = question({ metadata: { name: "e", annotations: { pad: "" } } });
      return text.replace('"pad":""', `"pad":"${"x".repeat(bytes - text.length)}"`);
    };
    expect((await loopback.send({ body: padded(BODY_LIMIT_BYTES) })).status).toBe(200);
    expect((await loopback.send({ body: padded(BODY_LIMIT_BYTES + 1) })).status).toBe(413);
    const chunked = loopback.send({ headers: { "transfer-encoding": "chunked" }, body: padded(BODY_LIMIT_BYTES + 1) });
    expect((await chunked).status).toBe(413);
  });

  test("slow senders are disconnected: during handshake, headers and body", async () => {
    // A server for each limit: a handshake that is meant to succeed has all the time it may need.
    await using handshakes = await startAdmissionLoopback({}, { timeouts: { handshakeTimeout: 150 } });
    const timeouts = { idleTimeout: 1_000, connectionsCheckingInterval: 30 };
    await using requests = await startAdmissionLoopback({}, { timeouts });
    const begin = async (text: string): Promise<string> => {
      const socket = await requests.socket();
      socket.write(text);
      return textOf(socket);
    };
    const [headers, body] = await Promise.all([
      begin("POST /validate"),
      begin(
        `POST ${hookOf("validate-engine").path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{`,
      ),
      once(connectPlain(handshakes.port, "127.0.0.1").resume(), "close"),
    ]);
    expect(headers).toContain("408");
    expect(body).toContain("408");
  });

  test("a connection that fails in the middle of a body does not affect others", async () => {
    const before = asked;
    const socket = await loopback.socket();
    socket.write(
      `POST ${hookOf("validate-engine").path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"a"`,
    );
    socket.destroy();
    expect((await loopback.send({ body: question() })).status).toBe(200);
    expect(asked).toBe(before + 1);
  });

  test("garbage instead of HTTP, and plain HTTP instead of TLS, are rejected", async () => {
    const socket = await loopback.socket();
    socket.write("\u0000\u0001\u0002 nonsense\r\n\r\n");
    expect(await textOf(socket)).toContain("400 Bad Request");
    const plain = connectPlain(loopback.port, "127.0.0.1");
    plain.write("POST / HTTP/1.1\r\nhost: x\r\n\r\n");
    expect(await textOf(plain)).not.toContain("HTTP/1.1 2");
    expect((await loopback.send({ body: question() })).status).toBe(200);
  });

  test("TLS older than 1.2 is rejected, 1.2 and 1.3 are accepted, HTTP/2 is not offered", async () => {
    const handshake = (maxVersion: "TLSv1.1" | "TLSv1.2" | "TLSv1.3") =>
      new Promise<string>((resolve) => {
        const socket = connectSecure(
          {
            host: "127.0.0.1",
            port: loopback.port,
            ca: loopback.authority.certificate,
            minVersion: "TLSv1",
            maxVersion,
            ciphers: "DEFAULT@SECLEVEL=0",
            ALPNProtocols: ["h2", "http/1.1"],
          },
          () => {
            resolve(`${socket.getProtocol()} ${socket.alpnProtocol}`);
            socket.destroy();
          },
        );
        socket.once("error", () => resolve("refused"));
      });
    expect(await handshake("TLSv1.1")).toBe("refused");
    expect(await handshake("TLSv1.2")).toBe("TLSv1.2 http/1.1");
    expect(await handshake("TLSv1.3")).toBe("TLSv1.3 http/1.1");
  });
});

function textOf(socket: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
}
