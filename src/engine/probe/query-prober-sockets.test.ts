// The prober over real sockets: pods that accept and never respond, through the API server's proxy and by IP. The clock
// is manual, so that nothing here depends on the speed of the machine.
import { type AddressInfo, createServer, type Socket } from "node:net";
import { silentLogger } from "@firebolt-operator/kube";
import { createKubeClient } from "@firebolt-operator/kube/client";
import { ManualClock, respondJson, type Script, startLoopback } from "@firebolt-operator/kube/testing";
import { expect, test } from "vitest";
import { metricsOf, podOf } from "../../../test/engine/support/probe-harness.ts";
import { scrapePod } from "../cluster/pod-scrape.ts";
import type { Pod } from "../model/children.ts";
import { podScraper } from "./pod-scraper.ts";
import type { ScrapePod } from "./query-probe.ts";
import { createQueryProber, PROBE_CONCURRENCY } from "./query-prober.ts";

const numbered = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const HUNG = numbered("hung", 150);
const GOOD = numbered("good", 10);
const podIn = (url: string): string => /pods\/([^:]+):9090\/proxy\/metrics$/.exec(url)?.[1] ?? "";
const isHung = (name: string): boolean => name.startsWith("hung");

interface Probing extends Disposable {
  /** Requests each pod as an engine of its own, in this order; returns those that have a result. */
  ask(names: readonly string[], ready?: boolean): readonly string[];
  readonly enqueued: readonly string[];
}

function probing(scrape: ScrapePod, clock: ManualClock): Probing {
  const end = new AbortController();
  const prober = createQueryProber({ scrape, clock, signal: end.signal, logger: silentLogger });
  const enqueued: string[] = [];
  prober.onResult(({ name }) => enqueued.push(name));
  const request = { mode: "ApiserverProxy", sinceMs: 0, freshMs: 0 } as const;
  return {
    enqueued,
    ask: (names, ready = true) =>
      names.filter((name) => {
        const pod = podOf(name, { ready });
        return prober.queries({ namespace: "ns", name }, [pod], request).type !== "pending";
      }),
    [Symbol.dispose]: () => end.abort(),
  };
}

async function behindProxy(script: Script) {
  const server = await startLoopback(script);
  const clock = new ManualClock();
  const client = createKubeClient({ config: server.config(), clock, maxSockets: Number.POSITIVE_INFINITY });
  return Object.assign(server, { clock, client, probing: probing(podScraper(client), clock) });
}

/** Pods whose URL matches never respond. */
const hangs: Script = ({ url }, response) => {
  if (!isHung(podIn(url))) respondJson(response, 200, metricsOf(0).body);
};

test("150 pods that never respond and were never probed: those that respond wait for two time-outs of 3 s", async () => {
  await using server = await behindProxy(hangs);
  const { probing, clock, seen } = server;
  probing.ask([...HUNG, ...GOOD]);
  for (const waves of [1, 2]) {
    await expect.poll(() => seen.length).toBe(PROBE_CONCURRENCY * waves);
    expect(probing.enqueued).toHaveLength(PROBE_CONCURRENCY * (waves - 1));
    await expect.poll(() => server.sockets.size).toBe(PROBE_CONCURRENCY);
    await clock.advance(3_000);
    await expect.poll(() => probing.enqueued.filter(isHung)).toHaveLength(PROBE_CONCURRENCY * waves);
  }
  await expect.poll(() => probing.enqueued.filter((name) => !isHung(name))).toHaveLength(GOOD.length);
  expect(probing.ask(GOOD)).toEqual(GOOD);
  probing[Symbol.dispose]();
});

test("150 pods that are known not to respond hold half of the places; those that respond have results while all of them wait", async () => {
  let isReset = true;
  await using server = await behindProxy(({ url }, response) => {
    if (!isHung(podIn(url))) respondJson(response, 200, metricsOf(0).body);
    else if (isReset) response.destroy();
  });
  const { probing, seen } = server;
  probing.ask(HUNG);
  await expect.poll(() => probing.enqueued).toHaveLength(HUNG.length);
  expect(probing.ask(HUNG)).toEqual(HUNG);
  isReset = false;
  seen.length = 0;
  expect(probing.ask(HUNG)).toEqual([]);
  await expect.poll(() => seen.length).toBe(PROBE_CONCURRENCY / 2);
  probing.ask(GOOD);
  await expect.poll(() => probing.enqueued.slice(HUNG.length).sort()).toEqual(GOOD);
  expect(probing.ask(GOOD)).toEqual(GOOD);
  expect(seen.filter(({ url }) => isHung(podIn(url)))).toHaveLength(PROBE_CONCURRENCY / 2);
  expect(probing.ask(HUNG)).toEqual([]);
  probing[Symbol.dispose]();
  // The end of the prober frees the sockets.
  await expect.poll(() => server.sockets.size).toBeLessThanOrEqual(GOOD.length);
});

test("150 pods on nodes that vanished, after a restart of the operator: they are not ready, so the others do not wait", async () => {
  await using server = await behindProxy(hangs);
  const { probing, seen } = server;
  probing.ask(HUNG, false);
  probing.ask(GOOD);
  await expect.poll(() => probing.enqueued.toSorted()).toEqual(GOOD);
  await expect.poll(() => seen.filter(({ url }) => isHung(podIn(url))).length).toBe(PROBE_CONCURRENCY / 2);
  expect(probing.ask(HUNG, false)).toEqual([]);
  probing[Symbol.dispose]();
});

test("a write of the operator's own client does not wait behind probes that hang", async () => {
  await using server = await behindProxy((request, response) => {
    if (request.method === "GET") return hangs(request, response);
    respondJson(response, 200, {});
  });
  const { probing, seen } = server;
  probing.ask(HUNG);
  await expect.poll(() => seen.length).toBe(PROBE_CONCURRENCY);
  const own = createKubeClient({ config: server.config() });
  expect(await own.request({ method: "PATCH", path: "/x", body: {} })).toEqual({});
  expect(probing.enqueued).toEqual([]);
  probing[Symbol.dispose]();
});

test("by IP: a pod that accepts and is silent keeps no other from its result", async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port: silentPort } = silent.address() as AddressInfo;
  await using server = await startLoopback((_request, response) => respondJson(response, 200, metricsOf(2).body));
  const scrape: ScrapePod = ({ metadata }: Pod, _mode, signal) => {
    const port = isHung(metadata?.name ?? "") ? silentPort : server.port;
    const limits = { connectMs: 600_000, firstByteMs: 600_000, totalMs: 600_000, bytes: 1_000 };
    return scrapePod({ host: "127.0.0.1", port, path: "/metrics" }, signal, limits);
  };
  const clock = new ManualClock();
  using prober = probing(scrape, clock);
  prober.ask(HUNG.slice(0, PROBE_CONCURRENCY / 2 + 5), false);
  await expect.poll(() => sockets.size).toBe(PROBE_CONCURRENCY / 2);
  prober.ask(GOOD);
  await expect.poll(() => prober.enqueued.toSorted()).toEqual(GOOD);
  expect(prober.ask(HUNG.slice(0, 5), false)).toEqual([]);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
});
