import { Resolver } from "node:dns/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DnsServer, startDnsServer } from "./dns-server.ts";

const NAME = "e1-service.ns1.svc.cluster.local";
const OLD = "10.0.0.1";
const NEW = "10.0.0.2";
/** Longer than any test runs. */
const EVER_MS = 3_600_000;

let server: DnsServer;
let resolver: Resolver;

beforeEach(async () => {
  server = await startDnsServer();
  resolver = new Resolver();
  resolver.setServers([`${server.address}:${server.port}`]);
});
afterEach(() => server.close());

test("a change is visible to the next query", async () => {
  server.set(NAME, [OLD]);
  expect(await resolver.resolve4(NAME)).toEqual([OLD]);
  server.set(NAME, [NEW]);
  expect(await resolver.resolve4(NAME)).toEqual([NEW]);
});

test("a caching server repeats its response until the entry expires", async () => {
  server.cacheFor(EVER_MS);
  server.set(NAME, [OLD]);
  expect(await resolver.resolve4(NAME)).toEqual([OLD]);
  server.set(NAME, [NEW]);
  expect(await resolver.resolve4(NAME)).toEqual([OLD]);
  server.cacheFor(0);
  expect(await resolver.resolve4(NAME)).toEqual([NEW]);
});

test("it caches that a name does not exist, too", async () => {
  server.cacheFor(EVER_MS);
  await expect(resolver.resolve4(NAME)).rejects.toThrow(/ENOTFOUND/);
  server.set(NAME, [NEW]);
  await expect(resolver.resolve4(NAME)).rejects.toThrow(/ENOTFOUND/);
});

test("cached responses expire", async () => {
  server.cacheFor(200);
  server.set(NAME, [OLD]);
  expect(await resolver.resolve4(NAME)).toEqual([OLD]);
  server.set(NAME, [NEW]);
  await expect.poll(() => resolver.resolve4(NAME)).toEqual([NEW]);
});

test("a wildcard holds for names without a record of their own", async () => {
  server.set("*.corp.example", [OLD]);
  server.set("own.corp.example", [NEW]);
  expect(await resolver.resolve4("a.b.corp.example")).toEqual([OLD]);
  expect(await resolver.resolve4("own.corp.example")).toEqual([NEW]);
  expect(server.questions().map(({ name }) => name)).toEqual(["a.b.corp.example", "own.corp.example"]);
});
