// How a running gateway finds engines by name, with the DNS server and the search list of a pod: it resolves only the
// name of the engine's Service, and names that do not exist take no capacity from engines that do.
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import type { StandInEngine } from "../harness/pods/stand-in-engine.ts";
import { type GatewayHarness, openGatewayHarness, serviceHost } from "./support/gateway-harness.ts";

describe("in a pod whose search list ends in a domain with an address for every name", () => {
  let harness: GatewayHarness;
  let engine: StandInEngine;
  const stolen: string[] = [];
  const stranger = createServer((request, response) => {
    stolen.push(request.url ?? "");
    response.end("mine");
  });

  beforeAll(async () => {
    harness = await openGatewayHarness();
    engine = await harness.startEngine({ engine: "e1" });
    harness.publish("e1", [engine]);
    await new Promise<void>((resolve) => stranger.listen(3473, harness.strangerAddress, resolve));
  });
  afterAll(async () => {
    await new Promise((resolve) => stranger.close(resolve));
    await harness[Symbol.asyncDispose]();
  });

  test("a query reaches its engine, and the host behind that domain gets nothing", async () => {
    const { value } = await harness.client.query({ engine: "e1", sql: "SELECT whoami()" });
    expect(value).toBe("e1-g0-0");
    expect(stolen).toEqual([]);
  });

  test("a query for an engine that does not exist is rejected, not forwarded", async () => {
    const { status } = await harness.client.send({ engine: "nobody" });
    expect(status).toBe(503);
    expect(stolen).toEqual([]);
  });

  test("a lookup is two DNS queries, for the name of the Service alone", async () => {
    await harness.client.query({ engine: "e1" });
    const lookUps = 3;
    await eventually(() => harness.dns.asked(serviceHost("e1")) >= lookUps);
    const names = new Set(harness.dns.questions().map(({ name }) => name));
    expect(names).toEqual(new Set([serviceHost("e1"), serviceHost("nobody")]));
    const perType = [1, 28].map(
      (type) => harness.dns.questions().filter((one) => one.name === serviceHost("e1") && one.type === type).length,
    );
    // The second DNS query of the last lookup may be in flight.
    expect(Math.abs((perType[0] ?? 0) - (perType[1] ?? 0))).toBeLessThanOrEqual(1);
  });
});

describe("random engine names, at a gateway without a wake agent", () => {
  const MADE_UP = 1_100;
  let harness: GatewayHarness;

  beforeAll(async () => {
    harness = await openGatewayHarness();
  });
  afterAll(() => harness[Symbol.asyncDispose]());

  test("take no DNS cache entry from a new engine, and expire", async () => {
    harness.publish("e1", [await harness.startEngine({ engine: "e1" })]);
    const made = Array.from({ length: MADE_UP }, (_, index) => `made-up-${index}`);
    const lanes = Array.from({ length: 20 }, async () => {
      for (let engine = made.pop(); engine !== undefined; engine = made.pop())
        expect((await harness.client.send({ engine })).status).toBe(503);
    });
    await Promise.all(lanes);
    await harness.client.query({ engine: "e1" });
    // Two clusters that are always there, and at most that of the engine.
    const clusters = (): Promise<number> => harness.envoy.statistic("cluster_manager.active_clusters");
    await eventually(async () => (await clusters()) <= 3, { timeoutMs: 120_000 });
    await harness.client.query({ engine: "e1" });
  });
});
