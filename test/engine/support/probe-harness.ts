// A prober on a manual clock, with pods whose responses the test decides one by one.
import { silentLogger } from "@firebolt-operator/kube";
import { ManualClock } from "@firebolt-operator/kube/testing";
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";
import type { MetricScrapeMode } from "../../../src/api/firebolt-instance/instance.ts";
import type { EngineKey } from "../../../src/engine/cluster/engine-cluster.ts";
import type { ScrapeResponse } from "../../../src/engine/cluster/pod-scrape.ts";
import type { Pod } from "../../../src/engine/model/children.ts";
import type { ProbeRequest, QueryProbe } from "../../../src/engine/probe/query-probe.ts";
import { createQueryProber } from "../../../src/engine/probe/query-prober.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

export const metricsOf = (running: number | string, suspended: number | string = 0): ScrapeResponse => ({
  status: 200,
  body: `${GAUGE.running} ${running}\n${GAUGE.suspended} ${suspended}\n`,
});

export interface PodOptions {
  readonly uid?: string;
  readonly ready?: boolean;
}

export function podOf(name: string, { uid = `uid-of-${name}`, ready = true }: PodOptions = {}): Pod {
  const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
  return { metadata: { namespace: "ns", name, uid }, status: { phase: "Running", podIP: "10.0.0.1", conditions } };
}

export const engineKey = (name: string): EngineKey => ({ namespace: "ns", name });

/** One scrape that waits for its response. */
export interface RunningScrape {
  readonly uid: string;
  readonly pod: Pod;
  readonly mode: MetricScrapeMode;
  readonly signal: AbortSignal;
  readonly beganMs: number;
  readonly respond: (answer: ScrapeResponse) => void;
  readonly fail: (error: unknown) => void;
}

export interface ProbeHarnessOptions {
  readonly concurrency?: number;
  readonly clock?: ManualClock;
  readonly onStart?: (scrape: RunningScrape) => void;
}

export function probeHarness(options: ProbeHarnessOptions = {}) {
  const { clock = new ManualClock(), concurrency, onStart } = options;
  const end = new AbortController();
  const running = new Set<RunningScrape>();
  const started: string[] = [];
  const enqueued: string[] = [];
  const scrape = (pod: Pod, mode: MetricScrapeMode, signal: AbortSignal): Promise<ScrapeResponse> => {
    const { promise, resolve, reject } = Promise.withResolvers<ScrapeResponse>();
    const entry: RunningScrape = {
      uid: pod.metadata?.uid ?? "",
      pod,
      mode,
      signal,
      beganMs: clock.now(),
      respond(answer) {
        running.delete(entry);
        resolve(answer);
      },
      fail(error) {
        running.delete(entry);
        reject(error);
      },
    };
    signal.addEventListener("abort", () => running.delete(entry));
    running.add(entry);
    started.push(pod.metadata?.name ?? "");
    onStart?.(entry);
    return promise;
  };
  const prober = createQueryProber({
    scrape,
    clock,
    signal: end.signal,
    logger: silentLogger,
    ...(concurrency === undefined ? {} : { concurrency }),
  });
  prober.onResult(({ namespace, name }) => enqueued.push(`${namespace}/${name}`));
  return {
    prober,
    clock,
    end,
    running,
    /** Names of the pods in the order in which their probes began. */
    started,
    enqueued,
    ask(pods: readonly Pod[], question: Partial<ProbeRequest> = {}, engine = "e"): QueryProbe {
      return prober.queries(engineKey(engine), pods, {
        mode: "ApiserverProxy",
        sinceMs: 0,
        freshMs: 5_000,
        ...question,
      });
    },
    /** Settles the scrape of the pod of this name that runs. */
    async respond(name: string, answer: ScrapeResponse | Error = metricsOf(0)): Promise<void> {
      const found = [...running].find(({ pod }) => pod.metadata?.name === name);
      if (found === undefined) throw new Error(`no scrape of ${name} is running`);
      if (answer instanceof Error) found.fail(answer);
      else found.respond(answer);
      await clock.advance(0);
    },
  };
}
