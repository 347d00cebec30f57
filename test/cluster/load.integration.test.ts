// The load generator of the end-to-end tests must detect every failure: a server responds wrongly in every way, and the
// load must count each of them.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import { startLoad } from "./support/load.ts";
import { describeFailures } from "./support/load-tally.ts";

const LIMIT = 20;

let close: () => void = () => undefined;
afterEach(() => close());

const answer = (response: ServerResponse, value: unknown): unknown => response.end(JSON.stringify({ data: [[value]] }));
const sumOf = (sql: string): number => (sql.match(/\d+/g) ?? []).reduce((sum, digits) => sum + Number(digits), 0);

/** Sends a few queries to a server that handles each as configured; returns the figures and the failures. */
async function load(treat: (response: ServerResponse, sql: string) => unknown, takesMs = 0) {
  const server = createServer((request, response) => {
    let sql = "";
    request.on("data", (chunk: Buffer) => {
      sql += chunk.toString();
    });
    request.once("end", () => treat(response, sql));
  });
  close = () => {
    server.closeAllConnections();
    server.close();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const sleeping = { short: () => ({ sql: `SELECT sleep(${takesMs})`, value: takesMs, takesMs }) };
  const running = startLoad({
    gateway: `http://127.0.0.1:${port}`,
    engine: "e1",
    perSecond: 1_000,
    longEveryMs: 0,
    limit: LIMIT,
    ...(takesMs > 0 ? sleeping : {}),
  });
  running.phase("all of it");
  await eventually(() => running.tally.sent === LIMIT);
  return { figures: await running.stop(), failures: running.tally.failures };
}

test("correct responses on new and kept-alive connections", async () => {
  const { figures, failures } = await load((response, sql) => answer(response, sumOf(sql)));
  expect(failures).toEqual([]);
  expect(figures).toMatchObject({ sent: LIMIT, succeeded: LIMIT, failed: 0, newConnections: LIMIT / 2 });
});

test.each([
  {
    name: "another query's result",
    treat: (response: ServerResponse) => answer(response, -1),
    why: /should be \d+, got/,
  },
  {
    name: "200 with an error, the response to a killed query",
    treat: (response: ServerResponse) => response.end('{"errors":[{"description":"killed"}]}'),
    why: /killed/,
  },
  {
    name: "503",
    treat: (response: ServerResponse) => response.writeHead(503).end("no healthy upstream"),
    why: /no healthy/,
  },
  {
    name: "no response",
    treat: (response: ServerResponse) => response.socket?.destroy(),
    why: /ECONNRESET.*0 received/,
  },
  {
    name: "half a response",
    treat: (response: ServerResponse) => {
      response.writeHead(200, { "Content-Length": "100" });
      response.write('{"data":', () => response.socket?.destroy());
    },
    why: /was cut off/,
  },
])("$name is a failure, every time", async ({ treat, why }) => {
  const { figures, failures } = await load(treat);
  expect(figures).toMatchObject({ sent: LIMIT, succeeded: 0, failed: LIMIT });
  for (const failure of failures) expect(failure.why).toMatch(why);
  expect(describeFailures(failures)).toContain(`${LIMIT} requests failed\n`);
  expect(failures[0]).toMatchObject({ engine: "e1", failedIn: "all of it" });
});

test("a response that arrives too early is a failure: the query was cut short", async () => {
  const { failures } = await load((response) => answer(response, 60_000), 60_000);
  expect(failures).toHaveLength(LIMIT);
  expect(failures[0]?.why).toMatch(/took only/);
});
