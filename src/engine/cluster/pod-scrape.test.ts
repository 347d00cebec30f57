import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { SCRAPE_LIMITS, type ScrapeLimits, scrapePod } from "./pod-scrape.ts";

async function scrape(answer: RequestListener, limits: Partial<ScrapeLimits> = {}) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const address = { host: "127.0.0.1", port, path: "/metrics" };
    return await scrapePod(address, new AbortController().signal, { ...SCRAPE_LIMITS, ...limits });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("scrape-through-api-server: the response as it is", async () => {
  expect(await scrape((request, response) => response.end(`${request.method} ${request.url}`))).toEqual({
    status: 200,
    body: "GET /metrics",
  });
});

test("a redirect is a response, and is not followed", async () => {
  const answer = await scrape((_, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end());
  expect(answer.status).toBe(302);
});

test("a response past the limit is rejected", async () => {
  await expect(scrape((_, response) => response.end("x".repeat(2_000)), { bytes: 1_000 })).rejects.toThrow(
    "longer than 1000 bytes",
  );
});

test("no response in time", async () => {
  await expect(scrape(() => undefined, { firstByteMs: 20 })).rejects.toThrow("no response within");
});

test("a response that never ends", async () => {
  await expect(scrape((_, response) => response.write("x"), { totalMs: 50 })).rejects.toThrow();
});

test("a connection that breaks", async () => {
  await expect(scrape((request) => request.socket.destroy())).rejects.toThrow();
});
