// The prober under random interleavings of requests, responses, time and replaced pods, against a record of every probe
// that ended.
import { KubeTimeoutError } from "@firebolt-operator/kube";
import fc from "fast-check";
import { expect, test } from "vitest";
import { metricsOf, podOf, probeHarness, type RunningScrape } from "../../../test/engine/support/probe-harness.ts";
import type { MetricScrapeMode } from "../../api/firebolt-instance/instance.ts";
import type { Pod } from "../model/children.ts";
import type { ProbeRequest, QueryProbe } from "./query-probe.ts";

const ENGINES = ["e0", "e1", "e2", "e3"] as const;
/** As long as the prober remembers a pod that no pass requests. */
const FORGET_MS = 600_000;
type Mood = "idle" | "busy" | "silent" | "broken";

type Event =
  | { readonly type: "ask"; readonly engine: number; readonly sinceAgoMs: number; readonly freshMs: number }
  | { readonly type: "mode"; readonly mode: MetricScrapeMode }
  | { readonly type: "respond"; readonly nth: number; readonly mood: Mood }
  | { readonly type: "time"; readonly ms: number }
  | { readonly type: "replace"; readonly engine: number; readonly pod: number; readonly ready: boolean };

const anyEngine = fc.integer({ min: 0, max: ENGINES.length - 1 });
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(anyEngine, fc.constantFrom(-3_000, 0, 1, 4_000, 1e9), fc.constantFrom(0, 1_000, 20_000))
      .map(([engine, sinceAgoMs, freshMs]): Event => ({ type: "ask", engine, sinceAgoMs, freshMs })),
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.nat(20), fc.constantFrom<Mood>("idle", "idle", "busy", "silent", "broken"))
      .map(([nth, mood]): Event => ({ type: "respond", nth, mood })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(1, 500, 3_000, 16_000, 70_000, 700_000).map((ms): Event => ({ type: "time", ms })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(anyEngine, fc.nat(2), fc.boolean())
      .map(([engine, pod, ready]): Event => ({ type: "replace", engine, pod, ready })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom<MetricScrapeMode>("PodIP", "ApiserverProxy")
      .map((mode): Event => ({ type: "mode", mode })),
  },
);

/** The last probe of a pod that ended. */
interface Ended {
  readonly beganMs: number;
  readonly mode: MetricScrapeMode;
  readonly mood: Mood;
}

class Walk {
  readonly #places: number;
  readonly #ended = new Map<string, Ended>();
  /**
   * Whether a pod responded last time; true once the prober may have forgotten it, because nothing is known of its lane
   * then.
   */
  readonly #responded = new Map<string, boolean>();
  readonly #askedMs = new Map<string, number>();
  readonly #slow = new Set<RunningScrape>();
  /** Found while a scrape began, where an exception would only count as a failed scrape. */
  readonly #broken: string[] = [];
  readonly #waiting = new Map<number, number>();
  readonly #pods: Pod[][];
  readonly #requests = new Map<number, ProbeRequest>();
  readonly harness: ReturnType<typeof probeHarness>;
  #mode: MetricScrapeMode = "ApiserverProxy";
  #uid = 0;

  constructor(places: number) {
    this.#places = places;
    this.#pods = ENGINES.map((engine) => [0, 1, 2].map((index) => this.#pod(`${engine}-${index}`, index < 2)));
    this.harness = probeHarness({ concurrency: places, onStart: (scrape) => this.#started(scrape) });
  }

  async happens(event: Event): Promise<void> {
    const { clock, running } = this.harness;
    switch (event.type) {
      case "ask":
        this.ask(event.engine, { sinceMs: clock.now() - event.sinceAgoMs, freshMs: event.freshMs });
        return;
      case "mode":
        this.#mode = event.mode;
        return;
      case "respond": {
        const scrape = [...running][event.nth % Math.max(1, running.size)];
        if (scrape !== undefined) this.#respond(scrape, event.mood);
        await clock.advance(0);
        return;
      }
      case "time":
        await clock.advance(event.ms);
        return;
      case "replace": {
        const pods = this.#pods[event.engine] ?? [];
        const name = pods[event.pod]?.metadata?.name ?? "";
        pods[event.pod] = this.#pod(name, event.ready);
        return;
      }
      default:
        event satisfies never;
    }
  }

  ask(engine: number, moment: Omit<ProbeRequest, "mode">): QueryProbe {
    const pods = this.#pods[engine] ?? [];
    const request = { mode: this.#mode, ...moment };
    const nowMs = this.harness.clock.now();
    for (const { metadata: { uid = "" } = {} } of pods) {
      if (nowMs - (this.#askedMs.get(uid) ?? nowMs) >= FORGET_MS) this.#responded.set(uid, true);
      this.#askedMs.set(uid, nowMs);
    }
    this.#requests.set(engine, request);
    const probe = this.harness.ask(pods, request, ENGINES[engine]);
    if (probe.type === "pending") this.#waiting.set(engine, this.harness.enqueued.length);
    else {
      this.#waiting.delete(engine);
      this.#check(probe, pods, request);
    }
    return probe;
  }

  /** Every pod responds from now on: engines that wait must be enqueued, and their passes must get results. */
  async end(): Promise<void> {
    const { clock, running, enqueued } = this.harness;
    for (let turn = 0; this.#waiting.size > 0; turn++) {
      expect(turn, "an engine waits without end").toBeLessThan(50);
      while (running.size > 0) {
        for (const scrape of [...running]) this.#respond(scrape, "idle");
        await clock.advance(0);
      }
      // For requests about a moment in the future.
      await clock.advance(3_000);
      for (const [engine, since] of [...this.#waiting]) {
        if (running.size > 0) break;
        expect(enqueued.slice(since), "requested, and never enqueued").toContain(`ns/${ENGINES[engine]}`);
        const { sinceMs, freshMs } = this.#requests.get(engine) ?? { sinceMs: 0, freshMs: 0 };
        this.ask(engine, { sinceMs, freshMs });
      }
    }
    this.harness.end.abort();
    expect(this.#broken).toEqual([]);
    expect(clock.pending, "no timer is left").toBe(0);
  }

  #check(probe: QueryProbe, pods: readonly Pod[], { mode, sinceMs }: ProbeRequest): void {
    const last = pods.map((pod) => this.#ended.get(pod.metadata?.uid ?? ""));
    for (const ended of last) {
      expect(ended, "a result without a probe").toBeDefined();
      expect(ended?.mode).toBe(mode);
      expect(ended?.beganMs, "a result from before sinceMs").toBeGreaterThanOrEqual(sinceMs);
    }
    const first = last.findIndex((ended) => ended?.mood !== "idle");
    const type = first < 0 ? "idle" : last[first]?.mood === "busy" ? "busy" : "failing";
    expect(probe).toMatchObject({ type, ...(first < 0 ? {} : { pod: pods[first]?.metadata?.name }) });
  }

  #started(scrape: RunningScrape): void {
    const { running } = this.harness;
    const same = [...running].filter(({ uid }) => uid === scrape.uid);
    if (same.length !== 1) this.#broken.push(`${scrape.uid} is probed ${same.length} times at once`);
    if (running.size > this.#places) this.#broken.push(`${running.size} probes at once in ${this.#places} places`);
    const ready = scrape.pod.status?.conditions?.[0]?.status === "True";
    if (!(this.#responded.get(scrape.uid) ?? ready)) this.#slow.add(scrape);
    for (const other of this.#slow) if (!running.has(other)) this.#slow.delete(other);
    if (this.#slow.size > Math.max(1, Math.floor(this.#places / 2)))
      this.#broken.push(`${this.#slow.size} unresponsive pods in ${this.#places} places`);
    // A scrape that loses its place by the prober's own limit has ended as well.
    scrape.signal.addEventListener("abort", () => this.#record(scrape, "silent"));
  }

  #record(scrape: RunningScrape, mood: Mood): void {
    const { uid, beganMs, mode } = scrape;
    this.#ended.set(uid, { beganMs, mode, mood });
    this.#responded.set(uid, mood !== "silent");
  }

  #respond(scrape: RunningScrape, mood: Mood): void {
    this.#record(scrape, mood);
    if (mood === "silent") scrape.fail(new KubeTimeoutError("no response headers within 3000 ms"));
    else if (mood === "broken") scrape.respond({ status: 200, body: "" });
    else scrape.respond(metricsOf(mood === "busy" ? 2 : 0));
  }

  #pod(name: string, ready: boolean): Pod {
    return podOf(name, { uid: `${name}-${this.#uid++}`, ready });
  }
}

test("results are never older than requested, never idle without a zero, and every request ends in an enqueue", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.array(anyEvent, { maxLength: 60 }), async (places, events) => {
      const walk = new Walk(places);
      for (const event of events) await walk.happens(event);
      await walk.end();
    }),
    { numRuns: 400 },
  );
});
