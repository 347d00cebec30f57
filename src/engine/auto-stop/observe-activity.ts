// Asks the running pods of the active generation how many queries they have (behaviour §4.3). Whatever goes wrong on the way is an
// answer ("failed"), never an exception and never zero.
import type { MetricScrapeMode } from "../../api/instance.ts";
import type { Pod } from "../children.ts";
import { probePod } from "../drain-check.ts";
import type { EngineIdentity } from "../names.ts";
import type { EngineWorld } from "../world.ts";
import type { Activity } from "./decide.ts";

export interface ActivityQuestion {
  readonly identity: EngineIdentity;
  readonly active: number;
  readonly replicas: number;
  readonly mode: MetricScrapeMode;
}

type World = Pick<EngineWorld, "pods" | "listPods" | "scrape" | "signal">;

/** Pods that are asked at the same time. */
const AT_ONCE = 8;

export async function observeActivity(world: World, question: ActivityQuestion): Promise<Activity> {
  const { active, replicas, mode } = question;
  if (replicas === 0) return { type: "notAsked" };
  if (active < 0) return { type: "failed", cause: "no generation has served yet" };
  const pods = await podsOf(world, question);
  if ("cause" in pods) return pods;
  const running = pods.filter((pod) => pod.status?.phase === "Running");
  if (running.length === 0) return { type: "failed", cause: "no pod is running" };
  let queries = 0;
  for (let first = 0; first < running.length; first += AT_ONCE) {
    const answers = await Promise.all(running.slice(first, first + AT_ONCE).map((pod) => probePod(world, pod, mode)));
    for (const answer of answers) {
      if (answer.type === "failing") return { type: "failed", cause: `pod ${answer.pod}: ${answer.cause}` };
      if (answer.type === "busy") queries += answer.queries;
    }
  }
  return { type: "read", queries };
}

/** A cache that shows fewer pods than there should be may not have seen a busy one. */
async function podsOf(
  world: World,
  question: ActivityQuestion,
): Promise<readonly Pod[] | Extract<Activity, { type: "failed" }>> {
  const { identity, active, replicas } = question;
  const cached = world.pods(identity, active);
  if (cached.length >= replicas) return cached;
  try {
    return await world.listPods(identity, active);
  } catch (error) {
    if (world.signal.aborted) throw error;
    return { type: "failed", cause: error instanceof Error ? error.message : String(error) };
  }
}
