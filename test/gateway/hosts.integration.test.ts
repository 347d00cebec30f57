// How a gateway with domains and a default engine picks the engine of a request, and that nothing a client claims about its host, in
// HTTP/1 and HTTP/2, leads to another engine or to Envoy's admin interface.
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RecordingEngine, startRecordingEngine } from "./support/fake-recording-engine.ts";
import { type Gateway, type GatewayHarness, NAMESPACE, openGatewayHarness } from "./support/gateway-harness.ts";
import { sendHeaders, sendLines } from "./support/raw-requests.ts";

const SERVICE = "lakeside-gateway";
const hostDomains = ["fb.example.com", "localhost"];

let harness: GatewayHarness;
/** Has the same domains and no default engine. */
let strict: Gateway;
/** Has a default engine and no domain. */
let undomained: Gateway;
let recorder: RecordingEngine;

beforeAll(async () => {
  harness = await openGatewayHarness({ selection: { hostDomains, defaultEngine: "e1", service: SERVICE } });
  strict = await harness.startGateway("strict", { hostDomains, service: SERVICE });
  undomained = await harness.startGateway("undomained", { defaultEngine: "e1", service: SERVICE });
  for (const engine of ["e1", "e2"]) harness.publish(engine, [await harness.startEngine({ engine })]);
  recorder = await startRecordingEngine(harness.nextAddress());
  harness.publish("rec", [recorder]);
});
afterAll(async () => {
  expect(harness.client.failed).toBe(0);
  // By Envoy's own count: no request of this file reached the admin interface.
  for (const { envoy } of [harness, strict, undomained])
    expect(await envoy.statistic("cluster.admin_stats.upstream_rq_total")).toBe(0);
  await recorder[Symbol.asyncDispose]();
  await harness[Symbol.asyncDispose]();
});

interface Sent {
  readonly host: string;
  readonly engine?: string;
  readonly path?: string;
  readonly port?: number;
}

const options = ({ host, engine, path, port }: Sent) => ({
  headers: { Host: host },
  engine,
  sql: "SELECT whoami()",
  ...(path === undefined ? {} : { path }),
  ...(port === undefined ? {} : { port }),
});
const podOf = async (sent: Sent): Promise<unknown> => (await harness.client.query(options(sent))).value;
const refusal = async (sent: Sent) => {
  const { status, text, headers } = await harness.client.send(options(sent));
  return { status, text, type: headers["content-type"] };
};
const refused = (text: unknown) => ({ status: 400, text, type: "text/plain" });
const CONFLICT = "conflicting engine selectors";
const MISSING = "invalid or missing engine selector";

describe("a host names its engine", () => {
  test.each([
    "e2.fb.example.com",
    "e2.fb.example.com:8080",
    "e2.fb.example.com:",
    "E2.FB.Example.Com",
    "e2.fb.example.com.",
    "e2.fb.example.com.:8080",
    "e2.localhost:8080",
  ])("%s", async (host) => {
    expect(await podOf({ host })).toBe("e2-g0-0");
    expect(await podOf({ host, port: strict.clientPort })).toBe("e2-g0-0");
    expect(await podOf({ host, engine: "e2", path: "/?engine=e2" })).toBe("e2-g0-0");
  });

  test("and the engine gets the same request as with the header", async () => {
    const path = "/h?x=%2F&query_label=by-host";
    await harness.client.query({ headers: { Host: "rec.fb.example.com" }, path });
    const [byHost] = recorder.requests.slice(-1);
    await harness.client.query({ engine: "rec", path });
    const [byHeader] = recorder.requests.slice(-1);
    const settled = (headers: object | undefined) => ({ ...headers, "x-request-id": "" });
    expect(settled(byHost?.headers)).toEqual(settled(byHeader?.headers));
    expect(byHost?.path).toBe(path);
    expect(byHost?.headers).toMatchObject({
      host: `rec-service.${NAMESPACE}.svc.cluster.local:3473`,
      "x-firebolt-engine": "rec",
    });
    await harness.envoy.logged("query_label=by-host engine=rec");
  });

  test("over HTTP/2 too", async () => {
    const session = connectHttp2(`http://127.0.0.1:${harness.clientPort}`);
    try {
      for (const authority of ["e2.fb.example.com", "E2.fb.example.com:8080", "e2.localhost."]) {
        const stream = session.request({ ":method": "POST", ":path": "/", ":authority": authority });
        stream.end("SELECT whoami()");
        const [headers] = await once(stream, "response");
        let text = "";
        for await (const chunk of stream) text += String(chunk);
        expect(headers[":status"], text).toBe(200);
        expect(text).toContain("e2-g0-0");
      }
    } finally {
      session.close();
    }
  });
});

describe("a query that names no engine", () => {
  const nameless = [
    "fb.example.com",
    "FB.example.com:80",
    "localhost:8080",
    "127.0.0.1:8080",
    "[::1]:8080",
    SERVICE,
    `${SERVICE}.${NAMESPACE}`,
    `${SERVICE}.${NAMESPACE}.svc`,
    `${SERVICE}.${NAMESPACE}.svc.cluster.local:80`,
  ];
  test.each(nameless)("goes to the default engine: %s", async (host) => {
    expect(await podOf({ host })).toBe("e1-g0-0");
  });
  test.each(nameless)("is refused where there is none: %s", async (host) => {
    expect(await refusal({ host, port: strict.clientPort })).toEqual(refused(MISSING));
  });
  test.each([...nameless, "e2.fb.example.com", "anything.example", "e1@x", "a,b"])(
    "without domains the host does not matter: %s",
    async (host) => {
      expect(await podOf({ host, port: undomained.clientPort })).toBe("e1-g0-0");
    },
  );

  test("selectors-never-guess: the default is the last resort: header, parameter and host come first", async () => {
    expect(await podOf({ host: "fb.example.com", engine: "e2" })).toBe("e2-g0-0");
    expect(await podOf({ host: "fb.example.com", path: "/?engine=e2" })).toBe("e2-g0-0");
    expect(await podOf({ host: "other.example", engine: "e2" })).toBe("e2-g0-0");
  });

  test.each([
    { path: "/?engine=", want: MISSING },
    { path: "/?engine", want: MISSING },
    { path: "/?engine=E2", want: MISSING },
    { path: "/?engine=%zz", want: "invalid engine query parameter encoding" },
    { path: "/?engine=e1&engine=e1", want: "multiple engine query parameters" },
    { engine: "", want: "invalid X-Firebolt-Engine header" },
    { engine: "e1,e1", want: "invalid X-Firebolt-Engine header" },
  ])("a selector that is wrong is not missing: $path $engine", async ({ want, ...sent }) => {
    expect(await refusal({ host: "fb.example.com", ...sent })).toEqual(refused(want));
    expect(await refusal({ host: "e1.fb.example.com", ...sent })).toEqual(refused(want));
  });
});

describe("a host that is refused", () => {
  test.each([
    "e1.other.example",
    "e1.evilfb.example.com",
    "e1.fb.example.com.evil.example",
    "e1.fb.example.com..",
    "e1.fb.example.com@127.0.0.1:9901",
    "e1.fb.example.com:80:90",
    "example.com",
    "e1",
    "1.2.3",
    "[::1",
    `${SERVICE}.other`,
  ])("in no domain: %s", async (host) => {
    const { status, text } = await refusal({ host });
    expect({ status, text }).toEqual({
      status: 400,
      text: expect.stringMatching(
        /^host ".*" is in no domain of this gateway \(fb\.example\.com, localhost\); name the engine by /,
      ),
    });
  });

  test.each([
    "a.e1.fb.example.com",
    ".fb.example.com",
    "e_1.fb.example.com",
    "-e1.fb.example.com",
    "e1-.fb.example.com",
    "user@e1.fb.example.com",
    "e1:80.fb.example.com",
    "e1.fb.example.com,e1.fb.example.com",
    `${"a".repeat(64)}.fb.example.com`,
  ])("names no engine: %s", async (host) => {
    const { status, text } = await refusal({ host });
    expect({ status, text }).toEqual({
      status: 400,
      text: expect.stringMatching(
        /^host ".*" does not name an engine: before the domain there must be one DNS label; /,
      ),
    });
  });

  test.each([
    { host: "e1.fb.example.com", engine: "e2" },
    { host: "e1.fb.example.com", path: "/?engine=e2" },
    { host: "e1.fb.example.com", engine: "e2", path: "/?engine=e2" },
    { host: "a.e1.fb.example.com", engine: "e1" },
    { host: "user@e1.fb.example.com", engine: "e1" },
    { host: "e1.localhost,e2.localhost", engine: "e2" },
  ])("contradicts another selector: $host $engine $path", async (sent) => {
    expect(await refusal(sent)).toEqual(refused(CONFLICT));
  });

  test("what the response repeats of it is short and harmless", async () => {
    const { text } = await refusal({ host: `a&$b'${"x".repeat(1_000)}` });
    expect(text).toMatch(/^host "a\?\?b\?x{123}" is in no domain/);
  });

  test.each(["e1.localhost, e2.localhost", "127.0.0.1:9901/.localhost", "<b>.localhost", "e1 .localhost"])(
    "%s is refused by Envoy itself",
    async (host) => {
      expect(await refusal({ host, engine: "e1" })).toEqual(refused("Bad Request"));
    },
  );
});

describe("requests that no HTTP client would send", () => {
  const post = (...lines: readonly string[]) => ["POST / HTTP/1.1", ...lines, "Content-Length: 9", "", "SELECT 42"];
  const sendRaw = (lines: readonly string[]) => sendLines(harness.clientPort, lines);

  test.each([
    { name: "two hosts that differ", lines: post("Host: e1.localhost", "Host: e2.localhost", "Connection: close") },
    { name: "the same host twice", lines: post("Host: e1.localhost", "Host: e1.localhost", "Connection: close") },
    { name: "an empty host", lines: post("Host:", "Connection: close") },
    { name: "no host", lines: post("Connection: close") },
    { name: "HTTP/1.0 without a host", lines: ["POST / HTTP/1.0", "Content-Length: 9", "", "SELECT 42"] },
    { name: "a tunnel", lines: ["CONNECT 127.0.0.1:9901 HTTP/1.1", "Host: e1.localhost"] },
    {
      name: "a request line with user information",
      lines: ["GET http://e1@127.0.0.1:9901/ HTTP/1.1", "Host: e1.localhost"],
    },
  ])("HTTP/1, $name: 4xx", async ({ lines }) => {
    expect(await sendRaw(lines)).toMatch(/^HTTP\/1\.[01] 4\d\d /);
  });

  test("HTTP/1, of two hosts an empty one does not count", async () => {
    const response = await sendRaw(post("Host: e1.localhost", "Host:", "Connection: close"));
    expect(response).toContain('"engine":"e1"');
  });

  test("HTTP/1, an absolute request line counts, not the Host header", async () => {
    const response = await sendRaw([
      "POST http://e2.localhost/ HTTP/1.1",
      "Host: e1.localhost",
      "Connection: close",
      "Content-Length: 15",
      "",
      "SELECT whoami()",
    ]);
    expect(response).toContain("e2-g0-0");
  });

  const REQUEST = [
    [":method", "GET"],
    [":scheme", "http"],
    [":path", "/"],
  ] as const;
  test.each<{ readonly name: string; readonly headers: readonly (readonly [string, string])[] }>([
    { name: "an empty authority", headers: [[":authority", ""]] },
    { name: "no authority", headers: [] },
    { name: "an at sign", headers: [[":authority", "user@e1.fb.example.com"]] },
    { name: "an at sign behind the engine", headers: [[":authority", "e1@127.0.0.1:9901"]] },
    { name: "a space", headers: [[":authority", "e1 .localhost"]] },
    { name: "a slash", headers: [[":authority", "127.0.0.1:9901/.localhost"]] },
    {
      name: "two authorities",
      headers: [
        [":authority", "e1.localhost"],
        [":authority", "e2.localhost"],
      ],
    },
    {
      name: "two hosts and no authority",
      headers: [
        ["host", "e1.localhost"],
        ["host", "e2.localhost"],
      ],
    },
  ])("HTTP/2, $name: the stream is reset", async ({ headers }) => {
    const end = await sendHeaders(harness.clientPort, [...REQUEST, ...headers]);
    // Malformed by the protocol, so there is no response; no request goes anywhere.
    expect(end).toEqual({ type: "reset" });
  });

  test("HTTP/2, an unknown domain: 400", async () => {
    const end = await sendHeaders(harness.clientPort, [...REQUEST, [":authority", "e1.other.example"]]);
    expect(end).toMatchObject({
      type: "response",
      status: "400",
      text: expect.stringMatching(/is in no domain of this gateway/),
    });
  });

  test("HTTP/2, an authority and another host: the authority counts", async () => {
    const end = await sendHeaders(harness.clientPort, [
      ...REQUEST,
      [":authority", "rec.localhost"],
      ["host", "e2.localhost"],
    ]);
    expect(end).toEqual({ type: "response", status: "200", text: "recorded" });
  });

  test("the header that names a cluster is the gateway's own: a client cannot choose one", async () => {
    const before = await harness.envoy.statistic("cluster.admin_stats.upstream_rq_total");
    const { value } = await harness.client.query({
      headers: { Host: "e2.localhost", "X-Firebolt-Cluster": "admin_stats" },
      sql: "SELECT whoami()",
    });
    expect(value).toBe("e2-g0-0");
    const { status } = await harness.client.send({
      headers: { Host: "e1.other.example", "X-Firebolt-Cluster": "admin_stats" },
    });
    expect(status).toBe(400);
    expect(await harness.envoy.statistic("cluster.admin_stats.upstream_rq_total")).toBe(before);
  });
});
