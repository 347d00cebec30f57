// Asks the pods of a draining generation whether queries still run (behaviour §1.6). Every Running pod must say zero in this
// one pass; whatever goes wrong on the way is an answer ("failing"), never an exception and never zero.
import type { MetricScrapeMode } from "../api/instance.ts";
import type { Pod } from "./children.ts";
import { parseQueryMetrics } from "./query-metrics.ts";
import type { DrainProbe } from "./snapshot.ts";
import type { EngineWorld } from "./world.ts";

const CAUSE_LIMIT = 300;

/** One pod after the other: the first that is busy, or cannot say, ends the examination. */
export async function checkDrain(
  world: Pick<EngineWorld, "scrape" | "signal">,
  pods: readonly Pod[],
  mode: MetricScrapeMode,
): Promise<DrainProbe> {
  for (const pod of pods) {
    // A pod that is not running runs no query.
    if (pod.status?.phase !== "Running") continue;
    const probe = await probePod(world, pod, mode);
    if (probe.type !== "drained") return probe;
  }
  return { type: "drained" };
}

/** What one pod says of its queries; "drained" when it has none. */
export async function probePod(
  world: Pick<EngineWorld, "scrape" | "signal">,
  pod: Pod,
  mode: MetricScrapeMode,
): Promise<DrainProbe> {
  const name = pod.metadata?.name ?? "";
  const failing = (cause: string): DrainProbe => ({ type: "failing", pod: name, cause: shortened(cause) });
  let answer: { readonly status: number; readonly body: string };
  try {
    answer = await world.scrape(pod, mode);
  } catch (error) {
    // A probe cut by the end of the process says nothing about the pod.
    if (world.signal.aborted) throw error;
    return failing(error instanceof Error ? error.message : String(error));
  }
  if (answer.status !== 200) return failing(`metrics answered with status ${answer.status}`);
  const metrics = parseQueryMetrics(answer.body);
  if (metrics.type === "missing") return failing(`no usable value for ${metrics.gauges.join(" and ")}`);
  const queries = metrics.running + metrics.suspended;
  return queries === 0 ? { type: "drained" } : { type: "busy", pod: name, queries };
}

/** The cause ends up in a condition, where one line is enough. */
function shortened(cause: string): string {
  const line = cause.replaceAll(/\s+/g, " ").trim();
  return line.length <= CAUSE_LIMIT ? line : `${line.slice(0, CAUSE_LIMIT - 3)}...`;
}
