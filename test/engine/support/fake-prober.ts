// The verdict of the prober over pods that respond at once: for worlds in memory, whose passes never wait.

import type { ScrapeResponse } from "../../../src/engine/cluster/pod-scrape.ts";
import type { Pod } from "../../../src/engine/model/children.ts";
import type { QueryProbe } from "../../../src/engine/probe/query-probe.ts";
import { outcomeOfFailure, outcomeOfResponse, type ProbeOutcome } from "../../../src/engine/probe/scrape-outcome.ts";

/** Pods are read in order, up to the first that is not idle. What `scrape` throws is a pod that does not respond. */
export function probeInOrder(pods: readonly Pod[], scrape: (pod: string) => ScrapeResponse): QueryProbe {
  for (const { metadata } of pods) {
    const pod = metadata?.name ?? "";
    const { queries } = outcomeOf(() => scrape(pod));
    if (queries.type !== "idle") return { ...queries, pod };
  }
  return { type: "idle" };
}

function outcomeOf(scrape: () => ScrapeResponse): ProbeOutcome {
  try {
    return outcomeOfResponse(scrape());
  } catch (error) {
    return outcomeOfFailure(error);
  }
}
