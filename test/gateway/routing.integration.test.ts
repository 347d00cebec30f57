// How a running gateway selects the engine of a request, what it rejects and with which message, and what its other
// ports serve.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StandInEngine } from "../harness/pods/stand-in-engine.ts";
import { breakRouting } from "./support/adjusted-config.ts";
import { type RecordingEngine, startRecordingEngine } from "./support/fake-recording-engine.ts";
import { type GatewayHarness, NAMESPACE, openGatewayHarness, RETRIES, serviceHost } from "./support/gateway-harness.ts";
import { sendLines } from "./support/raw-requests.ts";

let harness: GatewayHarness;
let first: StandInEngine;
let recorder: RecordingEngine;

beforeAll(async () => {
  harness = await openGatewayHarness();
  first = await harness.startEngine({ engine: "e1" });
  harness.publish("e1", [first]);
  harness.publish("e2", [await harness.startEngine({ engine: "e2" })]);
  const longest = await harness.startEngine({ engine: "a".repeat(54) });
  harness.publish("a".repeat(54), [longest]);
  recorder = await startRecordingEngine(harness.nextAddress());
  harness.publish("rec", [recorder]);
});
afterAll(async () => {
  console.log(`gateway-routing: ${harness.client.sent} requests sent, ${harness.client.failed} failed`);
  expect(harness.client.failed).toBe(0);
  await recorder[Symbol.asyncDispose]();
  await harness[Symbol.asyncDispose]();
});

describe("an accepted request", () => {
  test.each([
    { name: "by header", engine: "e1", path: "/", pod: "e1-g0-0" },
    { name: "by parameter", engine: undefined, path: "/?engine=e2", pod: "e2-g0-0" },
    { name: "by both, when they agree", engine: "e1", path: "/?engine=e1", pod: "e1-g0-0" },
    { name: "parameter first of several", path: "/?engine=e2&database=d", pod: "e2-g0-0" },
    { name: "parameter between others", path: "/?database=d&engine=e2&query_label=l", pod: "e2-g0-0" },
    { name: "encoded key and value", path: "/?%65ngine=%65%32", pod: "e2-g0-0" },
    { name: "upper-case encoding", path: "/?engin%65=e%32&database=%C3%A4", pod: "e2-g0-0" },
    { name: "a very long name", engine: "a".repeat(54), path: "/", pod: `${"a".repeat(54)}-g0-0` },
  ])("$name", async ({ engine, path, pod }) => {
    const { value } = await harness.client.query({ engine, path, sql: "SELECT whoami()" });
    expect(value).toBe(pod);
  });

  test("reaches the engine with its name, its authority and the settings of the caller", async () => {
    // The engine rejects unknown settings, so a 200 shows that `engine` was removed.
    const { text } = await harness.client.query({ path: "/?engine=e1&output_format=JSON_Compact" });
    expect(JSON.parse(text)).toMatchObject({
      data: [[42]],
      engine: "e1",
      host: `e1-service.${NAMESPACE}.svc.cluster.local:3473`,
    });
  });

  test.each([
    { sent: "/a?engine=rec", want: "/a" },
    { sent: "/a2?x=%2F+1&&engine=rec&y", want: "/a2?x=%2F+1&&y" },
    { sent: "/a3?engine=rec&", want: "/a3" },
    { sent: "/a4?Engine=b&engines=c&engine=rec&engine%zz=d", want: "/a4?Engine=b&engines=c&engine%zz=d" },
  ])("$sent becomes $want", async ({ sent, want }) => {
    await harness.client.query({ path: sent });
    expect(recorder.requests.at(-1)?.path).toBe(want);
  });

  test("by header leaves the path as it came", async () => {
    await harness.client.query({ engine: "rec", path: "/b?x=%2F+1&&y=%zz" });
    expect(recorder.requests.at(-1)?.path).toBe("/b?x=%2F+1&&y=%zz");
  });
});

describe("what a caller claims about itself", () => {
  test("is replaced: the address by that of its connection, the request id by one of the gateway", async () => {
    await harness.client.query({
      engine: "rec",
      path: "/claims",
      headers: {
        "X-Forwarded-For": "203.0.113.7",
        "X-Request-Id": "00000000-0000-4000-8000-000000000000",
        "X-Envoy-External-Address": "203.0.113.7",
        "X-Envoy-Original-Path": "/forged",
      },
    });
    const headers = recorder.requests.at(-1)?.headers ?? {};
    // What the caller wrote stays in front, as with every proxy: the last entry is the one that the gateway vouches for.
    expect(headers["x-forwarded-for"]).toBe("203.0.113.7,127.0.0.1");
    expect(headers["x-envoy-external-address"]).toBe("127.0.0.1");
    expect(headers["x-request-id"]).toMatch(/^[-0-9a-f]{36}$/);
    expect(headers["x-request-id"]).not.toBe("00000000-0000-4000-8000-000000000000");
    const line = await harness.envoy.logged('"POST /claims HTTP/1.1"');
    expect(line).toContain(` client=127.0.0.1 request_id=${String(headers["x-request-id"])} `);
    expect(line).not.toContain("forged");
    expect(line).not.toContain("203.0.113.7");
  });

  test("cannot make the access log long, nor put a query's parameters into it", async () => {
    const long = "x".repeat(5_000);
    await harness.client.query({ engine: "rec", path: `/long${long}?aws_secret_key=${long}&query_label=mine` });
    const line = await harness.envoy.logged("query_label=mine ");
    expect(line).toMatch(/"POST \/longx+ HTTP\/1.1" 200 /);
    expect(line).not.toContain("aws_secret_key");
    await harness.client.send({ engine: long, headers: { Host: long } });
    await harness.envoy.logged(/ 400 flags=- details=lua_response .*engine=x+$/);
    expect(Math.max(...harness.envoy.accessLog().map((one) => one.length))).toBeLessThan(1_200);
  });
});

describe("the label of a query", () => {
  test.each([
    {
      name: "a line break and a whole line",
      sent: '%0A[x] "POST / HTTP/1.1" 200 flags=- forged',
      logged: "__x___POST___HTTP_1.1__200_flags_-_forged",
    },
    { name: "spaces and a field", sent: "a engine=other+x", logged: "a_engine_other_x" },
    { name: "what labels have", sent: "dashboard-1:Part.2_b", logged: "dashboard-1:Part.2_b" },
  ])("is one word of one line of the access log: $name", async ({ sent, logged }) => {
    const label = sent.replaceAll(" ", "%20").replaceAll('"', "%22");
    await harness.client.query({ engine: "e1", path: `/?query_label=${label}` });
    const line = await harness.envoy.logged(`query_label=${logged} engine=e1`);
    expect(line).toMatch(/^\[[-0-9T:.]+Z\] "POST \/ HTTP\/1.1" 200 /);
    expect(harness.envoy.accessLog().filter((one) => one.startsWith("[x]"))).toEqual([]);
  });
});

describe("a rejected request", () => {
  const E1 = "multiple engine query parameters";
  const E2 = "invalid engine query parameter encoding";
  const E3 = "invalid X-Firebolt-Engine header";
  const E4 = "conflicting engine selectors";
  const E5 = "invalid or missing engine selector";

  test.each<{ readonly path?: string; readonly engine?: string; readonly want: string }>([
    { path: "/?engine=e1&engine=e1", want: E1 },
    { path: "/?engine=e1&%65ngine=e2", want: E1 },
    { path: "/?engine=e1&engine=%zz", want: E1 },
    { path: "/?engine=e1&engine=e1", engine: "e1", want: E1 },
    { path: "/?engine=%zz", want: E2 },
    { path: "/?engine=e1%", want: E2 },
    { path: "/?engine=%4", want: E2 },
    { path: "/?engine=%zz&engine=e1", want: E2 },
    { path: "/?engine=%zz", engine: "e1", want: E2 },
    { engine: "E1", want: E3 },
    { engine: "-e1", want: E3 },
    { engine: "e1-", want: E3 },
    { engine: "e_1", want: E3 },
    { engine: "", want: E3 },
    { engine: "a".repeat(64), want: E3 },
    { engine: "e1.other", want: E3 },
    { engine: "e1,e2", want: E3 },
    { engine: "127.0.0.1:80/", want: E3 },
    { path: "/?engine=e2", engine: "E1", want: E3 },
    { path: "/?engine=e2", engine: "e1", want: E4 },
    { path: "/?engine=", engine: "e1", want: E4 },
    { path: "/?engine", engine: "e1", want: E4 },
    { want: E5 },
    { path: "/?", want: E5 },
    { path: "/?engines=e1", want: E5 },
    { path: "/?engine", want: E5 },
    { path: "/?engine=", want: E5 },
    { path: "/?engine=e1+", want: E5 },
    { path: "/?engine=e1%00", want: E5 },
    { path: "/?engine=e1%2Eother", want: E5 },
    { path: "/?engine=evil.example%3A80%2F", want: E5 },
    { path: `/?engine=${"a".repeat(64)}`, want: E5 },
  ])("$path with header $engine: $want", async ({ path = "/", engine, want }) => {
    const { status, text, headers } = await harness.client.send({ path, engine });
    expect({ status, text, type: headers["content-type"] }).toEqual({ status: 400, text: want, type: "text/plain" });
  });

  test("two headers are not one", async () => {
    const { status, text } = await harness.client.send({ headers: { "X-Firebolt-Engine": ["e1", "e2"] } });
    expect({ status, text }).toEqual({ status: 400, text: E3 });
  });

  test.each([
    { name: "a foreign host", lines: ["GET http://127.0.0.1:9901/server_info HTTP/1.1", "Host: 127.0.0.1:9901"] },
    { name: "a tunnel", lines: ["CONNECT 127.0.0.1:9901 HTTP/1.1", "Host: 127.0.0.1:9901"] },
    { name: "a tunnel with an engine", lines: ["CONNECT 127.0.0.1:9901 HTTP/1.1", "Host: x", "X-Firebolt-Engine: e1"] },
  ])("the caller's own authority leads nowhere: $name", async ({ lines }) => {
    const answer = await sendLines(harness.clientPort, lines);
    expect(answer).toMatch(/^HTTP\/1.1 (400|404|500) /);
  });
});

test.each([
  { name: "without an engine", lines: ["CONNECT 127.0.0.1:9901 HTTP/1.1", "Host: 127.0.0.1:9901"] },
  { name: "with one", lines: ["CONNECT 127.0.0.1:9901 HTTP/1.1", "Host: x", "X-Firebolt-Engine: first"] },
])("a tunnel $name as the first request of every worker spoils none of the later ones", async ({ lines }) => {
  await using fresh = await openGatewayHarness({
    selection: { hostDomains: ["fb.example.com"], defaultEngine: "first", service: "main-gateway" },
  });
  await using engine = await startRecordingEngine(fresh.nextAddress());
  fresh.publish("first", [engine]);
  // Each on a connection of its own: Envoy hands connections out to its workers.
  for (let request = 0; request < 12; request++)
    expect(await sendLines(fresh.clientPort, lines)).toMatch(/^HTTP\/1.1 400 /);
  const ways = [["X-Firebolt-Engine: first", "Host: x"], ["Host: first.fb.example.com"], ["Host: fb.example.com"]];
  for (let round = 0; round < 12; round++)
    for (const way of ways)
      expect(await sendLines(fresh.clientPort, ["GET / HTTP/1.1", ...way])).toMatch(/^HTTP\/1.1 200 /);
});

test("routing-fails-closed: after an error in the routing script the response is 500, and no engine gets the request", async () => {
  await using broken = await openGatewayHarness({ adjust: breakRouting });
  await using engine = await startRecordingEngine(broken.nextAddress());
  broken.publish("rec", [engine]);
  const { status, text } = await broken.client.send({ engine: "rec", path: "/" });
  expect({ status, text }).toEqual({ status: 500, text: "routing failed" });
  expect(engine.requests).toEqual([]);
});

describe("an engine without pods", () => {
  test.each([
    { name: "that does not exist", label: "unknown", pods: undefined },
    { name: "that is stopped", label: "stopped", pods: [] },
  ])("$name is an immediate 503 of the gateway itself", async ({ pods, label }) => {
    harness.publish("absent", pods);
    const retries = await harness.envoy.statistic(RETRIES);
    const { status, text, headers } = await harness.client.send({ engine: "absent", path: `/?query_label=${label}` });
    expect({ status, text }).toEqual({ status: 503, text: "engine is not available; retry shortly" });
    expect(headers["retry-after"]).toBe("10");
    await harness.envoy.logged(new RegExp(` 503 flags=UH .* query_label=${label} engine=absent$`));
    // By Envoy's own count: there was no retry to wait for.
    expect(await harness.envoy.statistic(RETRIES)).toBe(retries);
  });
});

describe("the other pages", () => {
  const page = async (port: number, path: string): Promise<{ status: number; text: string }> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(60_000) });
    return { status: response.status, text: await response.text() };
  };

  test("/healthz responds on both ports, without an engine", async () => {
    expect((await page(harness.clientPort, "/healthz")).status).toBe(200);
    expect((await page(harness.metricsPort, "/healthz")).status).toBe(200);
  });

  test("the metrics port shows the statistics of the gateway", async () => {
    await harness.client.query({ engine: "e1" });
    const { status, text } = await page(harness.metricsPort, "/stats/prometheus");
    expect(status).toBe(200);
    expect(text).toMatch(/^envoy_http_downstream_rq_total\{envoy_http_conn_manager_prefix="gateway"\} [1-9]/m);
  });

  test.each([
    "/",
    "/stats",
    "/server_info",
    "/quitquitquit",
    "/stats/prometheus/../../server_info",
    "/stats/prometheus/%2e%2e/%2e%2e/server_info",
    "/stats/prometheus%2f..%2f..%2fserver_info",
  ])("the metrics port shows nothing else of the administration: %s", async (path) => {
    for (const method of ["GET", "POST"])
      expect(await sendLines(harness.metricsPort, [`${method} ${path} HTTP/1.1`, "Host: x"])).toMatch(
        /^HTTP\/1.1 404 /,
      );
    expect(harness.envoy.process.ending()).toBeUndefined();
  });

  test("the access log names the upstream", async () => {
    await harness.client.query({ engine: "e1", path: "/?query_label=logged" });
    const line = await harness.envoy.logged(/query_label=logged/);
    expect(line).toMatch(
      /^\[[-0-9T:.]+Z\] "POST \/ HTTP\/1.1" 200 flags=- details=via_upstream tx_fail=- upstream=\S+ cluster=\S+ duration=\d+ms rx=9 tx=\d+ authority=\S+ client=127.0.0.1 request_id=[-0-9a-f]{36} query_label=logged engine=e1$/,
    );
    expect(line).toContain(`upstream=${first.address}:3473 `);
    expect(line).toContain(`authority=${serviceHost("e1")}:3473 `);
  });
});
