// What a pass may learn about running queries, and how it requests it: the contract between the reconcile passes and
// the prober that stands beside them. Types only.
import type { MetricScrapeMode } from "../../api/firebolt-instance/instance.ts";
import type { EngineKey } from "../cluster/engine-cluster.ts";
import type { ScrapeResponse } from "../cluster/pod-scrape.ts";
import type { Pod } from "../model/children.ts";

/** What the last probe of one pod found. Not knowing is "failing", never "idle". */
export type PodQueries =
  | { readonly type: "idle" }
  | { readonly type: "busy"; readonly queries: number }
  | { readonly type: "failing"; readonly cause: string; readonly isForbidden?: true };

/** What the pods of one generation were last found to run. */
export type QueryProbe =
  /** At least one pod has no current result yet; the engine is enqueued when all have one. */
  | { readonly type: "pending" }
  | { readonly type: "idle" }
  | { readonly type: "busy"; readonly pod: string; readonly queries: number }
  | { readonly type: "failing"; readonly pod: string; readonly cause: string; readonly isForbidden?: true };

export interface ProbeRequest {
  readonly mode: MetricScrapeMode;
  /**
   * Only a probe that began at or after this moment counts (milliseconds since the epoch). A fixed moment, such as a
   * switch of traffic: with the time of each pass no result would ever count. For a moment in the future the engine is
   * enqueued at that moment.
   */
  readonly sinceMs: number;
  /**
   * How long a result counts after it was first read by a pass; one that no pass has read yet counts for a minute after
   * it arrived.
   */
  readonly freshMs: number;
}

export interface QueryProber {
  /**
   * Never waits and never throws. Requests a probe of each pod without a current result; one probe per pod at a time.
   * The caller passes the pods that may run queries: without any, the generation is idle.
   */
  queries(engine: EngineKey, pods: readonly Pod[], request: ProbeRequest): QueryProbe;
  /** Called with the engine when every pod that it was waiting for has a result. Returns the way to unsubscribe. */
  onResult(listener: (engine: EngineKey) => void): () => void;
}

/** One GET of a pod's metrics. Rejects when there is no response within its limits, and when the signal fires. */
export type ScrapePod = (pod: Pod, mode: MetricScrapeMode, signal: AbortSignal) => Promise<ScrapeResponse>;
