// From the response of a pod, or the lack of one, to what is known about its queries. Pure and total: whatever is not
// plainly a number of queries is "failing".
import { isForbidden, KubeApiError, ResponseTooLargeError } from "@firebolt-operator/kube";
import type { ScrapeResponse } from "../cluster/pod-scrape.ts";
import { causeOf, forbiddenIf } from "./probe-cause.ts";
import { missingGaugesText, parseQueryMetrics } from "./query-metrics.ts";
import type { PodQueries } from "./query-probe.ts";

/** What one probe found, and whether the pod responded at all. */
export interface ProbeOutcome {
  readonly queries: PodQueries;
  readonly responded: boolean;
}

export function outcomeOfResponse({ status, body }: ScrapeResponse): ProbeOutcome {
  return { queries: queriesIn(status, body), responded: true };
}

export function outcomeOfFailure(error: unknown): ProbeOutcome {
  const queries = { ...forbiddenIf(isForbidden(error)), type: "failing", cause: causeOf(error) } as const;
  return { queries, responded: hasResponded(error) };
}

function queriesIn(status: number, body: string): PodQueries {
  if (status !== 200)
    return {
      ...forbiddenIf(status === 403),
      type: "failing",
      cause: `the metrics endpoint responded with status ${status}`,
    };
  const metrics = parseQueryMetrics(body);
  if (metrics.type === "missing") return { type: "failing", cause: missingGaugesText(metrics.gauges) };
  const { queries } = metrics;
  return queries === 0 ? { type: "idle" } : { type: "busy", queries };
}

/**
 * A rejection by the API server (403, 404) comes at once and shows nothing about the pod. Its 5xx are what it reports
 * for a pod that it cannot reach.
 */
function hasResponded(error: unknown): boolean {
  if (error instanceof KubeApiError) return error.status < 500;
  return error instanceof ResponseTooLargeError;
}
