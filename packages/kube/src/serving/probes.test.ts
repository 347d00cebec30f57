import { expect, test } from "vitest";
import { systemClock } from "../core/clock.ts";
import { silentLogger } from "../core/logger.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { createProbes } from "./probes.ts";

const at = (path: string): URL => new URL(path, "http://localhost");

function setUp() {
  const clock = new ManualClock();
  const probes = createProbes({ clock, logger: silentLogger, host: "127.0.0.1", port: 0 });
  const problems: Record<string, string | undefined> = {};
  probes.addReadyCheck("cache", () => problems["cache"]);
  probes.addReadyCheck("webhook", () => problems["webhook"]);
  return { clock, probes, problems };
}

test("healthy is a plain ok, or a list with ?verbose", () => {
  const { probes } = setUp();
  expect(probes.respond(at("/readyz"))).toEqual({ status: 200, body: "ok" });
  expect(probes.respond(at("/readyz?verbose=1"))).toMatchObject({
    status: 200,
    body: "[+]cache ok\n[+]webhook ok\nreadyz check passed\n",
  });
});

test("one failing check fails the endpoint and is named", () => {
  const { probes, problems } = setUp();
  problems["webhook"] = "not listening";
  expect(probes.respond(at("/readyz"))).toMatchObject({
    status: 503,
    body: "[+]cache ok\n[-]webhook failed: not listening\nreadyz check failed\n",
  });
  expect(probes.respond(at("/readyz/cache")).status).toBe(200);
  expect(probes.respond(at("/readyz/webhook")).status).toBe(503);
  expect(probes.respond(at("/healthz")).status).toBe(200);
});

test.each(["/", "/metrics", "/readyz/unknown", "/healthz/cache"])("%s is not found", (path) => {
  expect(setUp().probes.respond(at(path)).status).toBe(404);
});

test("an event loop stalled for twenty seconds is unhealthy", async () => {
  const clock = new ManualClock();
  let stalledMs = 0;
  const stalling = {
    ...clock,
    now: () => 0,
    monotonicMs: () => clock.monotonicMs() + stalledMs,
    after: clock.after.bind(clock),
  };
  const probes = createProbes({ clock: stalling, logger: silentLogger, host: "127.0.0.1", port: 0 });
  const stop = new AbortController();
  const running = probes.run(stop.signal);
  await clock.advance(60_000);
  expect(probes.respond(at("/healthz")).status).toBe(200);
  stalledMs = 20_001;
  expect(probes.respond(at("/healthz/event-loop"))).toMatchObject({ status: 503 });
  await clock.advance(1_000);
  expect(probes.respond(at("/healthz/event-loop")).status).toBe(200);
  stop.abort();
  await running;
});

test("the server responds on its port until it is stopped", async () => {
  const probes = createProbes({ clock: systemClock, logger: silentLogger, host: "127.0.0.1", port: 0 });
  const stop = new AbortController();
  const running = probes.run(stop.signal);
  await probes.whenReady?.(stop.signal);
  const url = `http://127.0.0.1:${probes.port}`;
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await fetch(`${url}/healthz`, { method: "POST" })).status).toBe(405);
  stop.abort();
  await running;
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

test("a port in use is an error", async () => {
  const first = createProbes({ clock: systemClock, logger: silentLogger, host: "127.0.0.1", port: 0 });
  const stop = new AbortController();
  const running = first.run(stop.signal);
  await first.whenReady?.(stop.signal);
  const second = createProbes({ clock: systemClock, logger: silentLogger, host: "127.0.0.1", port: first.port ?? 0 });
  await expect(second.run(stop.signal)).rejects.toThrow("EADDRINUSE");
  stop.abort();
  await running;
});
